#include "common/solver/gang/planner.hpp"

#include <algorithm>
#include <utility>

#include "common/solver/gang/mixed/exact_sets.hpp"
#include "common/solver/gang/mixed/set_by_set.hpp"
#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/repair.hpp"
#include "common/solver/gang/spare_nodes.hpp"
#include "common/solver/gang/uniform/alike_pods.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::Plan;

Plan refused(std::string why) {
  Plan plan;
  plan.reason = std::move(why);
  return plan;
}

class GangPlanner {
 public:
  GangPlanner(const Fabric& fabric, const std::vector<std::string>& levels, const Gang& gang,
              const Notes& notes)
      : fabric_(fabric), levels_(levels), gang_(gang), notes_(notes) {
    for (const auto& [node, here] : gang.existing) running_ += here.pods;
  }

  Plan plan() {
    if (gang_.pods == 0) return refused("there are no pods to place");
    if (gang_.min_member > gang_.pods + running_)
      return refused("min_member is " + std::to_string(gang_.min_member) + ", there are only " +
                     std::to_string(gang_.pods + running_) + " pods");
    for (const domain::Slice& slice : gang_.slices) {
      if ((gang_.pods + running_) % slice.size != 0)
        return refused(std::to_string(gang_.pods + running_) + " pods are no multiple of " +
                       std::to_string(slice.size) + ", the slice of level " +
                       levels_[static_cast<std::size_t>(slice.level)]);
    }
    if (const auto slices = as_slices()) return *slices;
    const bool alike = gang_.sets.empty() && gang_.allowed.empty() &&
                       std::adjacent_find(gang_.pod_chips.begin(), gang_.pod_chips.end(),
                                          std::not_equal_to<>()) == gang_.pod_chips.end();
    return alike ? plan_alike() : plan_sets();
  }

 private:
  int chips() const {
    return gang_.pod_chips.empty() ? gang_.chips_per_pod : gang_.pod_chips.front();
  }

  // Pods that are all alike.
  Plan plan_alike() {
    AlikeAsk ask;
    ask.kind = {gang_.pods, chips(), std::vector<int>(fabric_.levels(), 1)};
    for (const domain::Slice& slice : gang_.slices)
      ask.kind.slices[static_cast<std::size_t>(slice.level)] = slice.size;
    ask.policy = gang_.policy;
    ask.preferred_level = gang_.preferred_level;
    ask.at_least = std::max(1, gang_.min_member - running_);
    Notes notes = notes_;
    for (const auto& [node, here] : gang_.existing)
      if (here.pods > 0) notes[node].running = here.pods;
    if (!find_candidates(ask.candidates)) return refused(apart());
    AlikePods placed = place_alike(fabric_, notes, ask);
    if (!placed.exact && placed.placed > 0 && fabric_.size() <= kSmallFabric) {
      if (const auto all_ways = exact_alike(std::nullopt, placed.placed)) placed = *all_ways;
    }
    if (placed.placed == 0) return refused(too_little_room(ask, placed));
    Plan plan;
    plan.optimal = placed.exact;
    if (gang_.spare) {
      AlikePods spared = with_spare(ask, notes, placed);
      if (spared.placed == placed.placed) {
        plan.optimal = spared.exact;
        placed = std::move(spared);
      }
    }
    plan.fits = true;
    std::vector<PlacedPod> pods;
    pods.reserve(static_cast<std::size_t>(placed.placed));
    for (const auto& [node, count] : placed.shares) {
      for (int i = 0; i < count; ++i) pods.push_back({node, static_cast<int>(pods.size()), -1});
    }
    number_ranks(fabric_, gang_, std::move(pods), plan);
    if (!plan.optimal) bound(plan);
    return plan;
  }

  // Domains of the required level; those that do not hold all of the gang that runs are out.
  bool find_candidates(std::vector<DomainId>& out) const {
    out = domains_of_level(fabric_, kRootDomain, gang_.required_level);
    if (gang_.required_level == kNoLevel) return true;
    for (const auto& [node, here] : gang_.existing) {
      if (here.pods == 0) continue;
      const DomainId at = fabric_.domain_of(node, gang_.required_level);
      if (std::find(out.begin(), out.end(), at) == out.end()) return false;
      out = {at};
    }
    return true;
  }

  // The same, with spare nodes left, if that is possible with as many pods.
  AlikePods with_spare(const AlikeAsk& ask, Notes notes, const AlikePods& best) const {
    const SpareNodes spare(fabric_, *gang_.spare);
    std::vector<FabricNodeId> used;
    used.reserve(best.shares.size() + gang_.existing.size());
    for (const auto& [node, pods] : best.shares) used.push_back(node);
    for (const auto& [node, here] : gang_.existing) used.push_back(node);
    if (spare.left_by(std::move(used))) return best;
    if (const auto exact = exact_alike(gang_.spare, best.placed)) return *exact;
    const bool nothing_lost = spare.close(notes);
    AlikePods out = place_alike(fabric_, notes, ask);
    out.exact = out.exact && nothing_lost;
    return out;
  }
  // By looking at all ways, if they are not too many; notes are not known there.
  std::optional<AlikePods> exact_alike(const std::optional<domain::Spare>& spare,
                                       int placed) const {
    if (!notes_.empty()) return std::nullopt;
    const PodGroups groups = group_pods(gang_);
    const auto found = place_sets_exactly(fabric_, gang_, groups, spare);
    if (!found) return std::nullopt;
    AlikePods out;
    for (const KindShare& share : found->shares) {
      out.shares.emplace_back(share.node, share.pods);
      out.placed += share.pods;
    }
    if (!found->fits || out.placed != placed) out.placed = 0;
    return out;
  }

  // Subgroups that are all alike and each inside a domain are slices of that level: exact at any
  // size, if all of them fit.
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
    Plan plan = GangPlanner(fabric_, levels_, sliced, notes_).plan();
    if (!plan.fits) return std::nullopt;
    for (domain::PlannedPod& pod : plan.pods) pod.set = pod.pod / first.pods;
    return plan;
  }

  // Roles, subgroups, pods of several sizes, chosen nodes.
  Plan plan_sets() {
    const PodGroups groups = group_pods(gang_);
    if (auto plan = plan_sets_at_the_bound(groups)) return *std::move(plan);
    std::optional<SetsAnswer> found = place_sets_exactly(fabric_, gang_, groups, std::nullopt);
    if (found && found->fits && gang_.spare) {
      const auto spared = place_sets_exactly(fabric_, gang_, groups, gang_.spare);
      if (spared && spared->fits && pods_in(*spared) == pods_in(*found)) found = spared;
    }
    const bool exact = found.has_value();
    if (!found) found = place_set_by_set(fabric_, gang_, groups, notes_);
    if (!found->fits) {
      Plan plan = refused(found->reason);
      plan.optimal = exact;
      return plan;
    }
    return plan_of(groups, *found, exact);
  }
  Plan plan_of(const PodGroups& groups, SetsAnswer& answer, bool exact) const {
    Plan plan;
    plan.fits = true;
    plan.optimal = exact;
    number_ranks(fabric_, gang_, pods_of(groups, answer), plan);
    if (!plan.optimal) bound(plan);
    return plan;
  }
  // In a large fabric set by set is a hundred times faster; where it places all pods on no more
  // domains than their chips need, nothing is left to be found by looking at all ways.
  std::optional<Plan> plan_sets_at_the_bound(const PodGroups& groups) const {
    const bool wishes =
        std::any_of(gang_.sets.begin(), gang_.sets.end(),
                    [](const domain::PodSet& set) { return set.preferred_level != kNoLevel; });
    if (fabric_.size() <= kSmallFabric || wishes || gang_.spare ||
        gang_.policy != domain::GangPolicy::compact)
      return std::nullopt;
    SetsAnswer answer = place_set_by_set(fabric_, gang_, groups, notes_);
    if (!answer.fits || pods_in(answer) < gang_.pods) return std::nullopt;
    Plan plan = plan_of(groups, answer, false);
    if (!plan.optimal) return std::nullopt;
    return plan;
  }
  static int pods_in(const SetsAnswer& answer) {
    int sum = 0;
    for (const KindShare& share : answer.shares) sum += share.pods;
    return sum;
  }
  // Pods of a kind go to its places in the order of the tree.
  std::vector<PlacedPod> pods_of(const PodGroups& groups, SetsAnswer& answer) const {
    std::stable_sort(answer.shares.begin(), answer.shares.end(),
                     [this](const KindShare& a, const KindShare& b) {
                       return a.node != b.node && fabric_.before(a.node, b.node);
                     });
    std::vector<std::size_t> next(groups.kinds.size(), 0);
    std::vector<PlacedPod> out;
    for (const KindShare& share : answer.shares) {
      const KindOfPods& kind = groups.kinds[share.kind];
      for (int i = 0; i < share.pods; ++i)
        out.push_back({share.node, kind.pods[next[share.kind]++], kind.set});
    }
    return out;
  }

  // What no plan can beat; if it is met, the plan is the best after all.
  void bound(Plan& plan) const {
    std::int64_t chips = 0;
    for (const domain::PlannedPod& pod : plan.pods) {
      const auto number = static_cast<std::size_t>(pod.pod);
      if (number < gang_.pod_chips.size())
        chips += gang_.pod_chips[number];
      else if (pod.set != domain::kNoSet)
        chips += gang_.sets[static_cast<std::size_t>(pod.set)].chips_per_pod;
      else
        chips += gang_.chips_per_pod;
    }
    plan.bound = fewest_by_chips(fabric_, gang_, chips);
    if (plan.bound != plan.domains) return;
    plan.optimal = true;
    plan.bound.clear();
  }

  std::string apart() const {
    return "the gang's running pods are not in one " +
           levels_[static_cast<std::size_t>(gang_.required_level)];
  }
  std::string too_little_room(const AlikeAsk& ask, const AlikePods& placed) const {
    if (placed.broken)
      return "a slice of the gang's running pods cannot be made whole: there is no room beside "
             "them";
    const int pods = std::max(1, gang_.min_member - running_);
    const std::string what =
        std::to_string(pods) + " pods of " + std::to_string(ask.kind.chips) + " chips";
    if (gang_.required_level == kNoLevel)
      return "needs room for " + what + "; the network has room for " +
             std::to_string(std::min(placed.most, gang_.pods));
    const std::string& level = levels_[static_cast<std::size_t>(gang_.required_level)];
    const std::string needs = "needs room for " + what + " in one " + level;
    if (!placed.best) return needs + "; there is none";
    return needs + "; the best, " + path_text(fabric_, *placed.best) + ", has room for " +
           std::to_string(placed.most);
  }

  const Fabric& fabric_;
  const std::vector<std::string>& levels_;
  const Gang& gang_;
  const Notes& notes_;
  int running_ = 0;
};

}  // namespace

std::string path_text(const Fabric& fabric, DomainId domain) {
  std::string text;
  for (DomainId at = domain; at != kRootDomain; at = fabric.parent(at))
    text = fabric.name(at) + (text.empty() ? "" : "/") + text;
  return text;
}

domain::Plan plan_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                       const domain::Gang& gang, const Notes& notes) {
  if (gang.failed) return repair_gang(fabric, level_names, gang);
  return GangPlanner(fabric, level_names, gang, notes).plan();
}

int nodes_used(const domain::Plan& plan) {
  std::vector<FabricNodeId> nodes;
  for (const domain::PlannedPod& pod : plan.pods) nodes.push_back(pod.node);
  std::sort(nodes.begin(), nodes.end());
  return static_cast<int>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

}  // namespace chipweave::solver
