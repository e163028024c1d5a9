#include "common/solver/gang/planner.hpp"

#include <algorithm>
#include <utility>

#include "common/solver/gang/mixed/exact_sets.hpp"
#include "common/solver/gang/mixed/set_by_set.hpp"
#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/repair/repair.hpp"
#include "common/solver/gang/spare_nodes.hpp"
#include "common/solver/gang/uniform/uniform_pods.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::Plan;
using domain::refused_plan;

class GangPlanner {
 public:
  GangPlanner(const Fabric& fabric, const std::vector<std::string>& levels, const Gang& gang,
              const NodeUsages& usages)
      : fabric_(fabric),
        levels_(levels),
        gang_(gang),
        usages_(usages),
        running_(gang.running_pods()) {}

  Plan plan() {
    if (gang_.pods == 0) return refused_plan("there are no pods to place");
    if (gang_.min_member > gang_.pods + running_)
      return refused_plan("min_member is " + std::to_string(gang_.min_member) +
                          ", there are only " + std::to_string(gang_.pods + running_) + " pods");
    for (const domain::Slice& slice : gang_.slices) {
      if ((gang_.pods + running_) % slice.size != 0)
        return refused_plan(std::to_string(gang_.pods + running_) + " pods are not a multiple of " +
                            std::to_string(slice.size) + ", the slice of level " +
                            levels_[static_cast<std::size_t>(slice.level)]);
    }
    if (const auto slices = as_slices()) return *slices;
    const bool uniform = gang_.sets.empty() && gang_.allowed.empty() &&
                         std::adjacent_find(gang_.pod_chips.begin(), gang_.pod_chips.end(),
                                            std::not_equal_to<>()) == gang_.pod_chips.end();
    return uniform ? plan_uniform() : plan_sets();
  }

 private:
  int chips() const {
    return gang_.pod_chips.empty() ? gang_.chips_per_pod : gang_.pod_chips.front();
  }

  Plan plan_uniform() {
    UniformRequest request;
    request.kind = {gang_.pods, chips(), std::vector<int>(fabric_.levels(), 1)};
    for (const domain::Slice& slice : gang_.slices)
      request.kind.slices[static_cast<std::size_t>(slice.level)] = slice.size;
    request.policy = gang_.policy;
    request.preferred_level = gang_.preferred_level;
    request.at_least = std::max(1, gang_.min_member - running_);
    NodeUsages usages = usages_;
    for (const auto& [node, here] : gang_.existing)
      if (here.pods > 0) usages[node].running = here.pods;
    if (!find_candidates(request.candidates)) return refused_plan(apart());
    UniformPlacement placed = place_uniform(fabric_, usages, request);
    if (!placed.exact && placed.placed > 0 && fabric_.size() <= kSmallFabric) {
      if (const auto exhaustive = exact_uniform(std::nullopt, placed.placed)) placed = *exhaustive;
    }
    if (placed.placed == 0) return refused_plan(too_little_room(request, placed));
    Plan plan;
    plan.optimal = placed.exact;
    if (gang_.spare) {
      UniformPlacement spared = with_spare(request, usages, placed);
      if (spared.placed == placed.placed) {
        plan.optimal = spared.exact;
        placed = std::move(spared);
      }
    }
    plan.fits = true;
    std::vector<PodOnNode> pods;
    pods.reserve(static_cast<std::size_t>(placed.placed));
    for (const auto& [node, count] : placed.shares) {
      for (int i = 0; i < count; ++i) pods.push_back({node, static_cast<int>(pods.size()), -1});
    }
    number_ranks(fabric_, gang_, std::move(pods), plan);
    if (!plan.optimal) bound(plan);
    return plan;
  }

  // Domains of the required level; where pods run already, only theirs. False: they run in several.
  bool find_candidates(std::vector<DomainId>& out) const {
    out = fabric_.domains_of_level(kRootDomain, gang_.required_level);
    if (gang_.required_level == kNoLevel) return true;
    for (const auto& [node, here] : gang_.existing) {
      if (here.pods == 0) continue;
      const DomainId at = fabric_.domain_of(node, gang_.required_level);
      if (std::find(out.begin(), out.end(), at) == out.end()) return false;
      out = {at};
    }
    return true;
  }

  // The same with spare nodes left, if as many pods can be placed that way.
  UniformPlacement with_spare(const UniformRequest& request, NodeUsages usages,
                              const UniformPlacement& best) const {
    const SpareNodes spare(fabric_, *gang_.spare);
    std::vector<FabricNodeId> used;
    used.reserve(best.shares.size() + gang_.existing.size());
    for (const auto& [node, pods] : best.shares) used.push_back(node);
    for (const auto& [node, here] : gang_.existing) used.push_back(node);
    if (spare.left_by(std::move(used))) return best;
    if (const auto exact = exact_uniform(gang_.spare, best.placed)) return *exact;
    const bool nothing_lost = spare.exclude(usages);
    UniformPlacement out = place_uniform(fabric_, usages, request);
    out.exact = out.exact && nothing_lost;
    return out;
  }
  // By exhaustive search, if it is small enough; it knows no usages.
  std::optional<UniformPlacement> exact_uniform(const std::optional<domain::Spare>& spare,
                                                int placed) const {
    if (!usages_.empty()) return std::nullopt;
    const PodGroups groups = group_pods(gang_);
    const auto found = place_sets_exactly(fabric_, gang_, groups, spare);
    if (!found) return std::nullopt;
    UniformPlacement out;
    for (const KindShare& share : found->shares) {
      out.shares.emplace_back(share.node, share.pods);
      out.placed += share.pods;
    }
    if (!found->fits || out.placed != placed) out.placed = 0;
    return out;
  }

  // Equal subgroups that are each confined to a domain are slices of that level, which are exact at
  // any size; only if all of them fit.
  std::optional<Plan> as_slices() const {
    if (gang_.sets.size() < 2 || gang_.roles || !gang_.slices.empty() || !gang_.allowed.empty() ||
        !gang_.pod_chips.empty() || !gang_.existing.empty() ||
        gang_.policy != domain::GangPolicy::compact)
      return std::nullopt;
    const domain::PodSet& first = gang_.sets.front();
    if (first.required_level == kNoLevel || first.pods == 0 ||
        first.required_level < gang_.required_level)
      return std::nullopt;
    for (const domain::PodSet& set : gang_.sets) {
      if (set.pods != first.pods || set.required_level != first.required_level ||
          set.parent != domain::kNoSet || set.preferred_level > first.required_level)
        return std::nullopt;
    }
    Gang sliced = gang_;
    sliced.sets.clear();
    sliced.slices = {{first.required_level, first.pods}};
    sliced.min_member = gang_.pods;
    sliced.chips_per_pod = first.chips_per_pod;
    Plan plan = GangPlanner(fabric_, levels_, sliced, usages_).plan();
    if (!plan.fits) return std::nullopt;
    for (domain::PlannedPod& pod : plan.pods) pod.set = pod.pod / first.pods;
    return plan;
  }

  // Roles, subgroups, pods of several sizes, pods with chosen nodes.
  Plan plan_sets() {
    const PodGroups groups = group_pods(gang_);
    if (auto plan = plan_sets_at_the_bound(groups)) return *std::move(plan);
    std::optional<SetsPlacement> found = place_sets_exactly(fabric_, gang_, groups, std::nullopt);
    if (found && found->fits && gang_.spare) {
      const auto spared = place_sets_exactly(fabric_, gang_, groups, gang_.spare);
      if (spared && spared->fits && pods_in(*spared) == pods_in(*found)) found = spared;
    }
    const bool exact = found.has_value();
    if (!found) found = place_set_by_set(fabric_, gang_, groups, usages_);
    if (!found->fits) {
      Plan plan = refused_plan(found->reason);
      plan.optimal = exact;
      return plan;
    }
    return plan_of(groups, *found, exact);
  }
  Plan plan_of(const PodGroups& groups, SetsPlacement& answer, bool exact) const {
    Plan plan;
    plan.fits = true;
    plan.optimal = exact;
    number_ranks(fabric_, gang_, pods_of(groups, answer), plan);
    if (!plan.optimal) bound(plan);
    return plan;
  }
  // In a large fabric SetBySet is a hundred times faster. If it places all pods on no more domains
  // than their chips need, ExactSets cannot find a better plan.
  std::optional<Plan> plan_sets_at_the_bound(const PodGroups& groups) const {
    const bool preferences =
        std::any_of(gang_.sets.begin(), gang_.sets.end(),
                    [](const domain::PodSet& set) { return set.preferred_level != kNoLevel; });
    if (fabric_.size() <= kSmallFabric || preferences || gang_.spare ||
        gang_.policy != domain::GangPolicy::compact)
      return std::nullopt;
    SetsPlacement answer = place_set_by_set(fabric_, gang_, groups, usages_);
    if (!answer.fits || pods_in(answer) < gang_.pods) return std::nullopt;
    Plan plan = plan_of(groups, answer, false);
    if (!plan.optimal) return std::nullopt;
    return plan;
  }
  static int pods_in(const SetsPlacement& answer) {
    int sum = 0;
    for (const KindShare& share : answer.shares) sum += share.pods;
    return sum;
  }
  // The pods of a kind get its nodes in depth-first order.
  std::vector<PodOnNode> pods_of(const PodGroups& groups, SetsPlacement& answer) const {
    std::stable_sort(answer.shares.begin(), answer.shares.end(),
                     [this](const KindShare& a, const KindShare& b) {
                       return a.node != b.node && fabric_.before(a.node, b.node);
                     });
    std::vector<std::size_t> next(groups.kinds.size(), 0);
    std::vector<PodOnNode> out;
    for (const KindShare& share : answer.shares) {
      const KindOfPods& kind = groups.kinds[share.kind];
      for (int i = 0; i < share.pods; ++i)
        out.push_back({share.node, kind.pods[next[share.kind]++], kind.set});
    }
    return out;
  }

  // Adds the bound; a plan that meets it is optimal after all.
  void bound(Plan& plan) const {
    std::int64_t chips = 0;
    for (const domain::PlannedPod& pod : plan.pods) chips += gang_.chips_of(pod.pod, pod.set);
    plan.bound = fewest_by_chips(fabric_, gang_, chips);
    if (plan.bound != plan.domains) return;
    plan.optimal = true;
    plan.bound.clear();
  }

  std::string apart() const {
    return "the gang's running pods are not in one " +
           levels_[static_cast<std::size_t>(gang_.required_level)];
  }
  std::string too_little_room(const UniformRequest& request, const UniformPlacement& placed) const {
    if (placed.broken)
      return "a slice of the gang's running pods cannot be made whole: there is no room beside "
             "them";
    const int pods = std::max(1, gang_.min_member - running_);
    const std::string what =
        std::to_string(pods) + " pods of " + std::to_string(request.kind.chips) + " chips";
    if (gang_.required_level == kNoLevel)
      return "needs room for " + what + "; the network has room for " +
             std::to_string(std::min(placed.best_capacity, gang_.pods));
    const std::string& level = levels_[static_cast<std::size_t>(gang_.required_level)];
    const std::string needs = "needs room for " + what + " in one " + level;
    if (!placed.best) return needs + "; there is none";
    return needs + "; the best, " + path_text(fabric_, *placed.best) + ", has room for " +
           std::to_string(placed.best_capacity);
  }

  const Fabric& fabric_;
  const std::vector<std::string>& levels_;
  const Gang& gang_;
  const NodeUsages& usages_;
  int running_;
};

}  // namespace

std::string path_text(const Fabric& fabric, DomainId domain) {
  std::string text;
  for (DomainId at = domain; at != kRootDomain; at = fabric.parent(at))
    text = fabric.name(at) + (text.empty() ? "" : "/") + text;
  return text;
}

domain::Plan plan_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                       const domain::Gang& gang, const NodeUsages& usages) {
  if (gang.failed) return repair_gang(fabric, level_names, gang);
  return GangPlanner(fabric, level_names, gang, usages).plan();
}

int nodes_used(const domain::Plan& plan) {
  std::vector<FabricNodeId> nodes;
  for (const domain::PlannedPod& pod : plan.pods) nodes.push_back(pod.node);
  std::sort(nodes.begin(), nodes.end());
  return static_cast<int>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

}  // namespace chipweave::solver
