#include "common/solver/gang/ranks/communicator_plan.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "common/solver/gang/planner.hpp"
#include "common/solver/ranks/communicators.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;
using domain::Slice;

using PlanGang = std::function<Result<Plan>(const Fabric&, const Gang&)>;

// All that planning one gang needs, and what was tried.
class GroupedShares {
 public:
  GroupedShares(const Fabric& fabric, const std::vector<std::string>& level_names,
                const NodeMachines& machines, const std::vector<std::optional<double>>& level_gbps,
                const PlanGang& plan)
      : fabric_(fabric),
        level_names_(level_names),
        machines_(machines),
        level_gbps_(level_gbps),
        plan_(plan) {}

  Result<CommunicatorPlan> planned(const Gang& gang) const {
    CommunicatorPlan out;
    std::optional<Error> refused;
    const auto ranked = [&](const Fabric& on) -> Result<Plan> {
      auto made = plan_(on, gang);
      if (!made || !made->fits || !gang.communicators) return made;
      refused.reset();
      out.ranks.reset();
      auto order = order_ranks(on, level_names_, gang, *gang.communicators, *made);
      if (order)
        out.ranks = *std::move(order);
      else
        refused = std::move(order).error();
      return made;
    };
    auto chips = plan_down_to_chips(fabric_, level_names_, gang, machines_, level_gbps_, ranked);
    if (!chips) return std::move(chips).error();
    out.chips = *std::move(chips);
    if (!out.chips.plan.fits) out.ranks.reset();
    if (!refused || !out.chips.plan.fits) return out;
    const bool all = static_cast<int>(out.chips.plan.pods.size()) >= gang.pods || gang.failed;
    if (all) return std::move(*refused).in("gang.communicators");
    out.ranks_refused = refused->text();
    return out;
  }

  // Adds slices of whole groups one by one, each time the one that saves most.
  void refine(const Gang& gang, CommunicatorPlan& best) {
    Gang sliced = gang;
    for (bool helped = true; helped;) {
      helped = false;
      Gang next = sliced;
      for (const Slice& slice : candidates(sliced, best)) {
        if (tries_++ == kMaxShareTries) return;
        Gang with = sliced;
        insert(with.slices, slice);
        auto made = planned(with);
        if (!made || !better(*made, best)) continue;
        made->chips.plan.optimal = best.chips.plan.optimal;  // its domains are as few
        made->chips.plan.bound = best.chips.plan.bound;
        best = *std::move(made);
        next = std::move(with);
        helped = true;
      }
      sliced = std::move(next);
    }
  }

 private:
  static void insert(std::vector<Slice>& slices, Slice slice) {
    slices.insert(std::find_if(slices.begin(), slices.end(),
                               [&](const Slice& one) { return one.level > slice.level; }),
                  slice);
  }

  // As the planner needs them: one a level, inner sizes divide outer ones.
  static bool nested(const std::vector<Slice>& slices) {
    for (std::size_t i = 1; i < slices.size(); ++i) {
      if (slices[i].level == slices[i - 1].level || slices[i - 1].size % slices[i].size != 0)
        return false;
    }
    return true;
  }

  // Groups of consecutive pods, rounded at a level that the plan divides, largest groups first.
  std::vector<Slice> candidates(const Gang& gang, const CommunicatorPlan& from) const {
    std::vector<Slice> out;
    const auto traffic = pod_traffic(*gang.communicators, from.chips.plan.pods.size());
    if (!traffic) return out;
    std::vector<int> sizes;
    std::size_t size = 1;
    for (const std::size_t axis : traffic->axes) {
      size *= axis;
      if (size > 1 && size < traffic->pods) sizes.push_back(static_cast<int>(size));
    }
    std::reverse(sizes.begin(), sizes.end());
    for (int level = gang.required_level + 1; level < static_cast<int>(fabric_.levels()); ++level) {
      if (from.chips.plan.domains[static_cast<std::size_t>(level)] < 2) continue;
      for (const int group : sizes) {
        std::vector<Slice> with = gang.slices;
        insert(with, {level, group});
        if (nested(with) && gang.pods % group == 0) out.push_back({level, group});
      }
    }
    return out;
  }

  static bool better(const CommunicatorPlan& made, const CommunicatorPlan& best) {
    if (!made.ranks || made.chips.plan.pods.size() != best.chips.plan.pods.size()) return false;
    if (made.chips.plan.domains != best.chips.plan.domains) return false;
    if (nodes_used(made.chips.plan) > nodes_used(best.chips.plan)) return false;
    constexpr double kEqual = 1 - 1e-9;
    if (made.chips.bandwidth.gbps.value_or(0) < kEqual * best.chips.bandwidth.gbps.value_or(0))
      return false;
    return made.ranks->weighted < best.ranks->weighted;
  }

  const Fabric& fabric_;
  const std::vector<std::string>& level_names_;
  const NodeMachines& machines_;
  const std::vector<std::optional<double>>& level_gbps_;
  const PlanGang& plan_;
  int tries_ = 0;
};

bool shares_may_change(const Gang& gang) {
  return gang.sets.empty() && gang.allowed.empty() && gang.existing.empty() && !gang.failed &&
         gang.policy == domain::GangPolicy::compact &&
         std::adjacent_find(gang.pod_chips.begin(), gang.pod_chips.end(), std::not_equal_to<>()) ==
             gang.pod_chips.end();
}

}  // namespace

Result<CommunicatorPlan> plan_with_communicators(
    const Fabric& fabric, const std::vector<std::string>& level_names, const Gang& gang,
    const NodeMachines& machines, const std::vector<std::optional<double>>& level_gbps,
    const PlanGang& plan) {
  GroupedShares shares(fabric, level_names, machines, level_gbps, plan);
  auto out = shares.planned(gang);
  if (!out || !out->ranks || out->ranks->weighted == 0 || !shares_may_change(gang)) return out;
  shares.refine(gang, *out);
  return out;
}

}  // namespace chipweave::solver
