#include "common/solver/gang/repair/repair.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "common/solver/gang/mixed/exact_sets.hpp"
#include "common/solver/gang/mixed/node_contents.hpp"
#include "common/solver/gang/mixed/set_by_set.hpp"
#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/repair/homes.hpp"
#include "common/solver/gang/repair/lost_pods.hpp"
#include "common/solver/gang/uniform/uniform_pods.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::kNoSet;
using domain::Plan;

// Lost pods that no rule tells apart.
struct Part {
  DomainId region = kRootDomain;
  int chips = 0;
  int set = kNoSet;
  const std::vector<FabricNodeId>* allowed = nullptr;  // as the request lists them; null: any
  std::vector<RunningPod> pods;
};

std::vector<FabricNodeId> ascending(std::vector<FabricNodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// The gang without the lost pods.
Gang without(const Gang& gang, const std::vector<FabricNodeId>& failed,
             const std::vector<RunningPod>& pods) {
  Gang out = gang;
  out.failed.reset();
  out.allowed.clear();
  out.pod_chips.clear();
  for (domain::PodSet& set : out.sets) set.existing.clear();
  for (const FabricNodeId node : failed) out.existing.erase(node);
  for (const RunningPod& pod : pods)
    if (pod.set != kNoSet && out.existing.contains(pod.node))
      ++out.sets[static_cast<std::size_t>(pod.set)].existing[pod.node];
  return out;
}

class Repairer {
 public:
  Repairer(const Fabric& fabric, const std::vector<std::string>& levels, const Gang& gang)
      : fabric_(fabric),
        levels_(levels),
        gang_(gang),
        failed_(ascending(*gang.failed)),
        pods_(identify_pods(fabric, gang)),
        survivors_(without(gang, failed_, pods_)),
        homes_(fabric, gang, failed_, pods_),
        contents_(fabric) {
    for (const FabricNodeId node : failed_) usages_[node].excluded = true;
    for (const auto& [node, here] : survivors_.existing) usages_[node].already_used = true;
  }

  Plan run() {
    find_parts();
    if (parts_.empty()) return domain::refused_plan("no pod of the gang runs on a failed node");
    if (const auto group = homes_.scattered()) return domain::refused_plan(apart(*group));
    // Without competition each part is placed as well as it can be.
    const bool alone = parts_.size() == 1 || compete_for_nothing();
    bool known = false;
    if (alone && !gang_.spare) {
      place_in_turn();
      if (!reason_.empty()) return refused(reason_);
      known = exact_ && (all_placed() || gang_.sets.empty());
    }
    if (!known && !place_exactly()) {
      place_in_turn();
      exact_ = exact_ && alone && all_placed() && !gang_.spare;
      stop_incomplete_sets();
    }
    return finish();
  }

 private:
  bool failed(FabricNodeId node) const {
    return std::binary_search(failed_.begin(), failed_.end(), node);
  }
  int lost() const {
    int sum = 0;
    for (const Part& part : parts_) sum += static_cast<int>(part.pods.size());
    return sum;
  }
  bool all_placed() const { return static_cast<int>(placed_.size()) == lost(); }

  // Innermost regions first, there the largest pods.
  void find_parts() {
    using Key = std::tuple<int, DomainId, int, int, std::vector<FabricNodeId>>;
    std::map<Key, Part> parts;
    for (const RunningPod& pod : pods_) {
      if (!failed(pod.node)) continue;
      Part one;
      one.region = homes_.region(pod);
      one.chips = chips_of(gang_, pod);
      one.set = pod.set;
      const auto allowed = gang_.allowed.find(pod.pod);
      if (allowed != gang_.allowed.end()) one.allowed = &allowed->second;
      Key key{-fabric_.level(one.region), one.region, -one.chips, one.set, {}};
      // An empty list is a rule too: kNowhere stands for pods without a list.
      std::get<4>(key) = one.allowed == nullptr ? std::vector{kNowhere} : *one.allowed;
      parts.try_emplace(std::move(key), std::move(one)).first->second.pods.push_back(pod);
    }
    for (auto& [key, part] : parts) parts_.push_back(std::move(part));
  }

  bool compete_for_nothing() const {
    std::map<DomainId, int> used;
    for (const Part& part : parts_) {
      if (++used[part.region] > 1 || !homes_.open_groups(part.set).empty()) return false;
    }
    for (const Part& part : parts_) {
      if (part.region == kRootDomain) return false;
      for (DomainId at = fabric_.parent(part.region); at != kNowhere; at = fabric_.parent(at))
        if (used.contains(at)) return false;
    }
    return true;
  }

  // By exhaustive search, if it is small enough.
  bool place_exactly() {
    std::size_t states = 1;
    for (const Part& part : parts_) {
      states *= part.pods.size() + 1;
      if (states > kMaxSetStates) return false;
    }
    Fabric fabric = fabric_;
    for (const FabricNodeId node : failed_) fabric.set_healthy(node, false);
    std::vector<std::vector<FabricNodeId>> allowed(parts_.size());
    std::vector<KindOfPods> kinds;
    int outermost = static_cast<int>(fabric.levels());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      outermost = std::min(outermost, fabric.level(part.region));
      KindOfPods& kind = kinds.emplace_back();
      kind.set = part.set;
      kind.chips = part.chips;
      for (const RunningPod& pod : part.pods) kind.pods.push_back(pod.pod);
      if (part.region == kRootDomain && part.allowed == nullptr) continue;
      allowed[i] = nodes_of(part);
      kind.allowed = &allowed[i];
    }
    Gang rest = survivors_;
    keep_slices_inside(outermost, rest.slices);
    for (domain::PodSet& set : rest.sets) keep_slices_inside(outermost, set.slices);
    PodGroups groups = group_kinds(rest, std::move(kinds));
    require_slices(groups);
    std::optional<SetsPlacement> found = place_sets_exactly(fabric, rest, groups, std::nullopt);
    if (!found) return false;
    if (found->fits && gang_.spare) {
      auto spared = place_sets_exactly(fabric, rest, groups, gang_.spare);
      if (spared && spared->fits && pods_in(*spared) == pods_in(*found)) found = std::move(spared);
    }
    exact_ = true;
    placed_.clear();
    reason_ = found->fits ? "" : refusal(found->reason);
    std::vector<std::vector<FabricNodeId>> nodes(parts_.size());
    for (const KindShare& share : found->shares)
      nodes[share.kind].insert(nodes[share.kind].end(), static_cast<std::size_t>(share.pods),
                               share.node);
    for (std::size_t i = 0; i < parts_.size(); ++i) give_ranks(parts_[i].pods, std::move(nodes[i]));
    return true;
  }
  static int pods_in(const SetsPlacement& placement) {
    int sum = 0;
    for (const KindShare& share : placement.shares) sum += share.pods;
    return sum;
  }
  std::vector<FabricNodeId> nodes_of(const Part& part) const {
    std::vector<FabricNodeId> out;
    if (part.allowed == nullptr) {
      fabric_.each_node_below(part.region, [&](FabricNodeId node) { out.push_back(node); });
      std::sort(out.begin(), out.end());
      return out;
    }
    const int level = fabric_.level(part.region);
    for (const FabricNodeId node : *part.allowed)
      if (level < 0 || fabric_.domain_of(node, level) == part.region) out.push_back(node);
    return out;
  }
  // Slices of outer domains are whole again when all pods are back in their regions.
  static void keep_slices_inside(int level, std::vector<domain::Slice>& slices) {
    std::erase_if(slices, [&](const domain::Slice& slice) { return slice.level <= level; });
  }
  void require_slices(PodGroups& groups) const {
    const auto all = [&](PodGroup& group) {
      for (const std::size_t kind : group.kinds)
        group.at_least += static_cast<int>(groups.kinds[kind].pods.size());
    };
    if (homes_.sliced(kNoSet)) return all(groups.groups.front());
    for (std::size_t set = 0; set < gang_.sets.size(); ++set)
      if (homes_.sliced(static_cast<int>(set))) all(groups.groups[set + 1]);
  }
  std::string refusal(const std::string& otherwise) const {
    for (const Part& part : parts_) {
      if (homes_.sliced(part.set))
        return "needs room for the pods of slices in " + region_text(part.region) +
               ", which lost them";
    }
    return otherwise;
  }

  // One part after another.
  void place_in_turn() {
    placed_.clear();
    std::map<std::size_t, DomainId> chosen;  // by open group
    const NodeUsages before = usages_;
    contents_ = NodeContents(fabric_);
    reason_.clear();
    for (const Part& part : parts_) place(part, chosen);
    usages_ = before;
  }
  void place(const Part& part, std::map<std::size_t, DomainId>& chosen) {
    visits_ += fabric_.domain_numbers() + usages_.size();
    if (part.allowed != nullptr) visits_ += fabric_.node_numbers();
    if (visits_ > kMaxDomainVisits) {
      reason_ = kTooManyVisits;
      return;
    }
    UniformRequest request;
    request.kind = {static_cast<int>(part.pods.size()), part.chips,
                    slices_inside(part.region, part.set)};
    request.candidates = candidates(part, chosen);
    request.policy = gang_.policy;
    request.preferred_level = gang_.preferred_level;
    if (part.set != kNoSet) {
      const int own = gang_.sets[static_cast<std::size_t>(part.set)].preferred_level;
      if (own != kNoLevel) request.preferred_level = own;
    }
    contents_.limit(usages_, part.chips);
    const bool sliced = homes_.sliced(part.set);
    request.at_least = sliced ? request.kind.pods : 1;
    const UniformPlacement placed =
        place_uniform(fabric_, part.allowed == nullptr ? usages_ : only_allowed(part), request);
    exact_ = exact_ && placed.exact;
    if (sliced && placed.placed < request.kind.pods) {
      reason_ = "needs room for " + std::to_string(part.pods.size()) + " pods of " +
                std::to_string(part.chips) + " chips in " + region_text(part.region) +
                ", which lost them; it has room for " + std::to_string(placed.best_capacity);
      return;
    }
    std::vector<FabricNodeId> nodes;
    for (const auto& [node, count] : placed.shares) {
      nodes.insert(nodes.end(), static_cast<std::size_t>(count), node);
      NodeUsage& usage = usages_[node];
      usage.already_used = true;
      usage.used_chips += count * part.chips;
      usage.used_pods += count;
      contents_.put(node, part.chips, count);
    }
    if (!nodes.empty()) {
      for (const std::size_t group : homes_.open_groups(part.set))
        chosen.try_emplace(group, fabric_.domain_of(nodes.front(), homes_.required_level(group)));
    }
    give_ranks(part.pods, std::move(nodes));
  }
  // The region, or where open groups of the part have chosen, or may choose, their domain.
  std::vector<DomainId> candidates(const Part& part,
                                   const std::map<std::size_t, DomainId>& chosen) const {
    DomainId inside = part.region;
    int level = kNoLevel;
    for (const std::size_t group : homes_.open_groups(part.set)) {
      const auto at = chosen.find(group);
      if (at == chosen.end())
        level = std::max(level, homes_.required_level(group));
      else if (fabric_.level(at->second) > fabric_.level(inside))
        inside = at->second;
    }
    return fabric_.domains_of_level(inside, level);
  }
  NodeUsages only_allowed(const Part& part) const {
    NodeUsages out = usages_;
    fabric_.each_node_below(part.region, [&](FabricNodeId node) {
      if (!std::binary_search(part.allowed->begin(), part.allowed->end(), node))
        out[node].excluded = true;
    });
    return out;
  }
  // Whole slices that are to be placed inside the region, by level.
  std::vector<int> slices_inside(DomainId region, int set) const {
    std::vector<int> out(fabric_.levels(), 0);
    const auto add = [&](const std::vector<domain::Slice>& slices) {
      for (const domain::Slice& slice : slices) {
        int& size = out[static_cast<std::size_t>(slice.level)];
        if (slice.level > fabric_.level(region)) size = std::max(size, slice.size);
      }
    };
    add(gang_.slices);
    if (set != kNoSet) add(gang_.sets[static_cast<std::size_t>(set)].slices);
    return out;
  }

  // Each new node gets the rank that was closest to it: first those of the same finest domain, then
  // of the next level up, and so on.
  void give_ranks(std::vector<RunningPod> pods, std::vector<FabricNodeId> nodes) {
    for (int level = static_cast<int>(fabric_.levels()) - 1; level >= kNoLevel; --level) {
      std::map<DomainId, std::vector<FabricNodeId>> there;
      const auto at = [&](FabricNodeId node) {
        return level < 0 ? kRootDomain : fabric_.domain_of(node, level);
      };
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
        there[at(*node)].push_back(*node);
      std::vector<RunningPod> rest;
      for (const RunningPod& one : pods) {
        std::vector<FabricNodeId>& free = there[at(one.node)];
        if (free.empty()) {
          rest.push_back(one);
          continue;
        }
        placed_.push_back({one.pod, free.back(), one.rank, one.set});
        nodes.erase(std::find(nodes.begin(), nodes.end(), free.back()));
        free.pop_back();
      }
      pods = std::move(rest);
    }
  }

  MissingMembers missing() const {
    std::vector<int> by_set(gang_.sets.size(), 0);
    for (const domain::PlannedPod& pod : placed_)
      if (pod.set != kNoSet) ++by_set[static_cast<std::size_t>(pod.set)];
    return missing_members(survivors_, by_set, static_cast<int>(placed_.size()));
  }
  // A subgroup with fewer pods than it needs gets none, so that others may run.
  void stop_incomplete_sets() {
    for (MissingMembers incomplete = missing(); incomplete.set != kNoSet; incomplete = missing())
      std::erase_if(placed_, [&](const domain::PlannedPod& pod) {
        return pod.set != kNoSet && is_inside(gang_, pod.set, incomplete.set);
      });
  }

  Plan refused(std::string why) const {
    Plan plan = domain::refused_plan(std::move(why));
    plan.optimal = exact_;
    return plan;
  }
  Plan finish() {
    if (!reason_.empty()) return refused(reason_);
    if (placed_.empty())
      return refused("there is no room for any of the pods that lost their node");
    if (const MissingMembers none = missing(); none.any()) return refused(none.why);
    Plan plan;
    plan.fits = true;
    plan.optimal = exact_;
    std::sort(placed_.begin(), placed_.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
    plan.domains = count_domains(fabric_, survivors_, placed_);
    if (!exact_) bound(plan);
    plan.pods = std::move(placed_);
    std::sort(plan.pods.begin(), plan.pods.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return plan;
  }
  // A plan that meets the bound is optimal after all.
  void bound(Plan& plan) const {
    std::int64_t chips = 0;
    for (const domain::PlannedPod& pod : placed_)
      chips += chips_of(gang_, {pod.node, pod.pod, pod.rank, pod.set});
    plan.bound = fewest_by_chips(fabric_, survivors_, chips);
    plan.optimal = plan.bound == plan.domains;
    if (plan.optimal) plan.bound.clear();
  }

  std::string region_text(DomainId region) const {
    if (region == kRootDomain) return "the network";
    return levels_[static_cast<std::size_t>(fabric_.level(region))] + " " +
           path_text(fabric_, region);
  }
  std::string apart(std::size_t group) const {
    const std::string name = homes_.group_text(group);
    return (name == "the gang" ? "the gang's running pods" : "the running pods of " + name) +
           " are not in one " + levels_[static_cast<std::size_t>(homes_.required_level(group))];
  }

  const Fabric& fabric_;
  const std::vector<std::string>& levels_;
  const Gang& gang_;
  const std::vector<FabricNodeId> failed_;
  const std::vector<RunningPod> pods_;
  Gang survivors_;
  Homes homes_;
  NodeUsages usages_;
  NodeContents contents_;
  std::vector<Part> parts_;
  std::vector<domain::PlannedPod> placed_;
  bool exact_ = true;
  std::uint64_t visits_ = 0;  // of domains
  std::string reason_;
};

}  // namespace

Plan repair_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                 const Gang& gang) {
  return Repairer(fabric, level_names, gang).run();
}

}  // namespace chipweave::solver
