#include "common/solver/gang/repair.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/uniform/uniform_pods.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::kNoSet;
using domain::Plan;

struct LostPod {
  FabricNodeId node = kNowhere;
  int rank = 0;
  int set = kNoSet;
};

class Repairer {
 public:
  Repairer(const Fabric& fabric, const std::vector<std::string>& levels, const Gang& gang)
      : fabric_(fabric), levels_(levels), gang_(gang), survivors_(gang) {
    for (const FabricNodeId node : *gang.failed) {
      usages_[node].excluded = true;
      survivors_.existing.erase(node);
    }
    for (const auto& [node, here] : survivors_.existing) usages_[node].already_used = true;
  }

  Plan run() {
    find_lost();
    if (lost_.empty()) return domain::refused_plan("no pod of the gang runs on a failed node");
    // Interchangeable pods that must stay in the same domain are placed together.
    std::map<std::pair<DomainId, std::pair<int, int>>, std::vector<LostPod>> parts;
    for (const LostPod& one : lost_) {
      const auto region = region_of(one);
      if (!region) return domain::refused_plan(reason_);
      parts[{*region, {-chips_of(one), one.set}}].push_back(one);
    }
    for (auto& [key, pods] : parts) place(key.first, -key.second.first, pods);
    if (!reason_.empty()) return domain::refused_plan(reason_);
    if (placed_.empty())
      return domain::refused_plan("there is no room for any of the pods that lost their node");
    const int able = survivors_.running_pods() + static_cast<int>(placed_.size());
    if (able < gang_.min_member)
      return domain::refused_plan("needs " + std::to_string(gang_.min_member) + " pods to run, " +
                                  std::to_string(able) + " can");
    Plan plan;
    plan.fits = true;
    plan.optimal = exact_;
    plan.pods = std::move(placed_);
    std::sort(plan.pods.begin(), plan.pods.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    std::vector<domain::PlannedPod> by_node = plan.pods;
    std::sort(by_node.begin(), by_node.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
    plan.domains = count_domains(fabric_, survivors_, by_node);
    return plan;
  }

 private:
  bool failed(FabricNodeId node) const {
    const auto at = usages_.find(node);
    return at != usages_.end() && at->second.excluded;
  }

  // Ranks that are not listed are those that the planner gives: depth-first.
  void find_lost() {
    std::set<int> taken;
    std::vector<FabricNodeId> nodes;
    for (const auto& [node, here] : gang_.existing) {
      nodes.push_back(node);
      taken.insert(here.ranks.begin(), here.ranks.end());
    }
    std::sort(nodes.begin(), nodes.end(),
              [this](FabricNodeId a, FabricNodeId b) { return fabric_.before(a, b); });
    int next = 0;
    for (const FabricNodeId node : nodes) {
      const domain::Running& here = gang_.existing.at(node);
      std::vector<int> ranks = here.ranks;
      while (static_cast<int>(ranks.size()) < here.pods) {
        while (taken.contains(next)) ++next;
        ranks.push_back(next++);
      }
      if (!failed(node)) continue;
      std::vector<int> sets;
      for (std::size_t set = 0; set < gang_.sets.size(); ++set) {
        const auto at = gang_.sets[set].existing.find(node);
        if (at != gang_.sets[set].existing.end())
          sets.insert(sets.end(), static_cast<std::size_t>(at->second), static_cast<int>(set));
      }
      sets.resize(ranks.size(), kNoSet);
      for (std::size_t i = 0; i < ranks.size(); ++i) lost_.push_back({node, ranks[i], sets[i]});
    }
  }

  int chips_of(const LostPod& one) const {
    const auto pod = static_cast<std::size_t>(one.rank);
    if (pod < gang_.pod_chips.size()) return gang_.pod_chips[pod];
    if (one.set != kNoSet) return gang_.sets[static_cast<std::size_t>(one.set)].chips_per_pod;
    int most = gang_.chips_per_pod;
    for (const domain::PodSet& set : gang_.sets)
      if (gang_.roles) most = std::max(most, set.chips_per_pod);
    return most;
  }

  bool has_usable_node(DomainId domain) const {
    bool found = false;
    fabric_.each_node_below(domain, [&](FabricNodeId node) {
      found = found || (!failed(node) && fabric_.node(node).healthy);
    });
    return found;
  }

  // The innermost slice that the pod's domain can make whole again. A domain with no usable node
  // left has lost its whole slice, which the slice around it gets back elsewhere.
  int slice_level_of(const LostPod& one) const {
    int level = kNoLevel;
    for (const domain::Slice& slice : gang_.slices) {
      if (slice.size > 1 && has_usable_node(fabric_.domain_of(one.node, slice.level))) {
        level = std::max(level, slice.level);
      }
    }
    return level;
  }

  // The innermost domain that the pod must not leave; nullopt: the gang spans several already.
  std::optional<DomainId> region_of(const LostPod& one) {
    int level = std::max(slice_level_of(one), gang_.required_level);
    if (gang_.required_level != kNoLevel) {
      const DomainId here = fabric_.domain_of(one.node, gang_.required_level);
      for (const auto& [node, running] : survivors_.existing) {
        if (fabric_.domain_of(node, gang_.required_level) == here) continue;
        reason_ = "the gang's running pods are not in one " +
                  levels_[static_cast<std::size_t>(gang_.required_level)];
        return std::nullopt;
      }
    }
    for (int set = one.set; set != kNoSet; set = gang_.sets[static_cast<std::size_t>(set)].parent)
      level = std::max(level, gang_.sets[static_cast<std::size_t>(set)].required_level);
    return level == kNoLevel ? kRootDomain : fabric_.domain_of(one.node, level);
  }

  // Whole slices that are to be placed inside the region, by level.
  std::vector<int> slices_inside(DomainId region) const {
    std::vector<int> out(fabric_.levels(), 0);
    for (const domain::Slice& slice : gang_.slices) {
      if (slice.level > fabric_.level(region)) {
        out[static_cast<std::size_t>(slice.level)] = slice.size;
      }
    }
    return out;
  }

  std::string region_text(DomainId region) const {
    if (region == kRootDomain) return "the network";
    return levels_[static_cast<std::size_t>(fabric_.level(region))] + " " +
           path_text(fabric_, region);
  }

  void place(DomainId region, int chips, const std::vector<LostPod>& pods) {
    UniformRequest request;
    request.kind = {static_cast<int>(pods.size()), chips, slices_inside(region)};
    request.candidates = {region};
    request.policy = gang_.policy;
    request.preferred_level = gang_.preferred_level;
    const bool sliced = std::any_of(gang_.slices.begin(), gang_.slices.end(),
                                    [](const domain::Slice& slice) { return slice.size > 1; });
    request.at_least = sliced ? request.kind.pods : 1;
    const UniformPlacement placed = place_uniform(fabric_, usages_, request);
    exact_ = exact_ && placed.exact;
    if (sliced && placed.placed < request.kind.pods) {
      reason_ = "needs room for " + std::to_string(pods.size()) + " pods of " +
                std::to_string(chips) + " chips in " + region_text(region) +
                ", which lost them; it has room for " + std::to_string(placed.best_capacity);
      return;
    }
    std::vector<FabricNodeId> nodes;
    for (const auto& [node, count] : placed.shares) {
      nodes.insert(nodes.end(), static_cast<std::size_t>(count), node);
      NodeUsage& usage = usages_[node];
      usage.already_used = true;
      usage.used_chips += count * chips;
      usage.used_pods += count;
    }
    give_ranks(pods, std::move(nodes));
  }

  // Each new node gets the rank that was closest to it: first those of the same finest domain, then
  // of the next level up, and so on.
  void give_ranks(std::vector<LostPod> pods, std::vector<FabricNodeId> nodes) {
    for (int level = static_cast<int>(fabric_.levels()) - 1; level >= kNoLevel; --level) {
      std::map<DomainId, std::vector<FabricNodeId>> there;
      const auto at = [&](FabricNodeId node) {
        return level < 0 ? kRootDomain : fabric_.domain_of(node, level);
      };
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
        there[at(*node)].push_back(*node);
      std::vector<LostPod> rest;
      for (const LostPod& one : pods) {
        std::vector<FabricNodeId>& free = there[at(one.node)];
        if (free.empty()) {
          rest.push_back(one);
          continue;
        }
        placed_.push_back({one.rank, free.back(), one.rank, one.set});
        nodes.erase(std::find(nodes.begin(), nodes.end(), free.back()));
        free.pop_back();
      }
      pods = std::move(rest);
    }
  }

  const Fabric& fabric_;
  const std::vector<std::string>& levels_;
  const Gang& gang_;
  Gang survivors_;
  NodeUsages usages_;
  std::vector<LostPod> lost_;
  std::vector<domain::PlannedPod> placed_;
  bool exact_ = true;
  std::string reason_;
};

}  // namespace

Plan repair_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                 const Gang& gang) {
  return Repairer(fabric, level_names, gang).run();
}

}  // namespace chipweave::solver
