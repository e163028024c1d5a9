#include "common/solver/gang/mixed/pod_groups.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::kNoSet;
using domain::PodSet;

// Collects interchangeable pods into kinds.
class Kinds {
 public:
  Kinds(const Gang& gang, PodGroups& out) : gang_(gang), out_(out) {}
  void add(int pod, int set) {
    const std::vector<FabricNodeId>* allowed = nullptr;
    if (const auto at = gang_.allowed.find(pod); at != gang_.allowed.end())
      allowed = lists_.try_emplace(at->second, &at->second).first->second;
    const int chips = gang_.chips_of(pod, set);
    const auto [at, fresh] = kinds_.try_emplace({set, chips, allowed}, out_.kinds.size());
    if (fresh) out_.kinds.push_back({set, chips, allowed, {}});
    out_.kinds[at->second].pods.push_back(pod);
  }

 private:
  const Gang& gang_;
  PodGroups& out_;
  std::map<std::vector<FabricNodeId>, const std::vector<FabricNodeId>*> lists_;
  std::map<std::tuple<int, int, const std::vector<FabricNodeId>*>, std::size_t> kinds_;
};

// The coarser of two levels; kNoLevel is none.
int coarser(int a, int b) {
  if (a == kNoLevel || b == kNoLevel) return std::max(a, b);
  return std::min(a, b);
}

PodGroup group_of(const Gang& gang, const PodGroups& all, int outer) {
  PodGroup group;
  const PodSet& set = gang.sets[static_cast<std::size_t>(outer)];
  group.required_level = set.required_level;
  group.preferred_level = set.preferred_level;
  group.slices = set.slices;
  for (std::size_t kind = 0; kind < all.kinds.size(); ++kind)
    if (is_inside(gang, all.kinds[kind].set, outer)) group.kinds.push_back(kind);
  for (std::size_t i = 0; i < gang.sets.size(); ++i) {
    if (!is_inside(gang, static_cast<int>(i), outer)) continue;
    for (const auto& [node, pods] : gang.sets[i].existing) group.existing[node] += pods;
  }
  return group;
}

}  // namespace

bool is_inside(const Gang& gang, int set, int outer) {
  for (int at = set; at != kNoSet; at = gang.sets[static_cast<std::size_t>(at)].parent)
    if (at == outer) return true;
  return false;
}

PodGroups group_pods(const Gang& gang) {
  PodGroups out;
  Kinds kinds(gang, out);
  int pod = 0;
  if (gang.sets.empty()) {
    for (; pod < gang.pods; ++pod) kinds.add(pod, kNoSet);
  }
  for (std::size_t set = 0; set < gang.sets.size(); ++set) {
    for (int i = 0; i < gang.sets[set].pods; ++i, ++pod) kinds.add(pod, static_cast<int>(set));
  }
  return group_kinds(gang, std::move(out.kinds));
}

PodGroups group_kinds(const Gang& gang, std::vector<KindOfPods> kinds) {
  PodGroups out;
  out.kinds = std::move(kinds);
  PodGroup& whole = out.groups.emplace_back();
  whole.required_level = gang.required_level;
  whole.preferred_level = gang.preferred_level;
  whole.slices = gang.slices;
  for (std::size_t kind = 0; kind < out.kinds.size(); ++kind) whole.kinds.push_back(kind);
  for (const auto& [node, here] : gang.existing) whole.existing[node] = here.pods;
  std::map<std::string, PodGroup> together;
  for (std::size_t set = 0; set < gang.sets.size(); ++set) {
    PodGroup group = group_of(gang, out, static_cast<int>(set));
    const std::string& with = gang.sets[set].together;
    if (!with.empty()) {
      auto [at, fresh] = together.try_emplace(with, group);
      if (!fresh) {
        PodGroup& all = at->second;
        all.kinds.insert(all.kinds.end(), group.kinds.begin(), group.kinds.end());
        for (const auto& [node, pods] : group.existing) all.existing[node] += pods;
        all.required_level = coarser(all.required_level, group.required_level);
        all.preferred_level = coarser(all.preferred_level, group.preferred_level);
      }
      at->second.slices.clear();
      group.preferred_level = kNoLevel;  // applies to the roles together
    }
    out.groups.push_back(std::move(group));
  }
  for (auto& [name, group] : together) out.groups.push_back(std::move(group));
  return out;
}

MissingMembers missing_members(const Gang& gang, const std::vector<int>& placed_by_set,
                               int placed) {
  const std::size_t sets = gang.sets.size();
  std::vector<int> own(sets, 0);
  std::vector<int> all(sets, 0);
  std::vector<bool> fresh(sets, false);
  for (std::size_t i = 0; i < sets; ++i) {
    own[i] = placed_by_set[i];
    for (const auto& [node, pods] : gang.sets[i].existing) own[i] += pods;
    for (int at = static_cast<int>(i); at != kNoSet;
         at = gang.sets[static_cast<std::size_t>(at)].parent) {
      all[static_cast<std::size_t>(at)] += own[i];
      if (placed_by_set[i] > 0) fresh[static_cast<std::size_t>(at)] = true;
    }
  }
  const auto started = [&](std::size_t i) {
    return all[i] > 0 && own[i] >= gang.sets[i].own_min && all[i] >= gang.sets[i].min_member;
  };
  for (std::size_t i = 0; i < sets; ++i) {
    if (fresh[i] && !started(i))
      return {"subgroup " + gang.sets[i].name + " needs " +
                  std::to_string(std::max(gang.sets[i].own_min, gang.sets[i].min_member)) +
                  " pods to start",
              false, static_cast<int>(i)};
  }
  for (const auto& [kind, least] : gang.min_sets) {
    int count = 0;
    for (std::size_t i = 0; i < sets; ++i)
      if (gang.sets[i].kind == kind && started(i)) ++count;
    if (count < least)
      return {"needs " + std::to_string(least) + " subgroups of set " + kind + ", " +
              std::to_string(count) + " can run"};
  }
  const int able = placed + gang.running_pods();
  if (placed == 0) return {"there is no room for any of its pods"};
  if (able < gang.min_member)
    return {"needs " + std::to_string(gang.min_member) + " pods to run, " + std::to_string(able) +
            " can"};
  return {};
}

}  // namespace chipweave::solver
