// CommunicatorPlan — nodes, chips and ranks of a gang whose communicators are known, together: of
// the plans with as many pods on as few domains and the same predicted bandwidth, the one whose
// groups of ranks cross the least borders that was found.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/ranks/plan_ranks.hpp"

namespace chipweave::solver {

// Plans that are tried in addition: each rounds the shares of one more level to whole groups.
inline constexpr int kMaxShareTries = 24;

struct CommunicatorPlan {
  ChipPlan chips;
  std::optional<RankOrder> ranks;  // absent: does not fit, or ranks_refused
  std::string ranks_refused;  // why the ranks of the pods that were placed could not be ordered
};

// plan: plans a gang on a fabric. Without gang.communicators: plan_down_to_chips(). Groups of
// communicators fix the shares of pods that are all alike, with the policy compact; slices of the
// gang stay. Errors name the key of the communicators. Cost: at most 1 + kMaxShareTries plans with
// their orders of ranks.
Result<CommunicatorPlan> plan_with_communicators(
    const Fabric& fabric, const std::vector<std::string>& level_names, const domain::Gang& gang,
    const NodeMachines& machines, const std::vector<std::optional<double>>& level_gbps,
    const std::function<Result<domain::Plan>(const Fabric&, const domain::Gang&)>& plan);

}  // namespace chipweave::solver
