// fastest_plan — of all plans with as many pods on as few domains and nodes as a given one: one
// whose predicted bandwidth min(chips, rails, levels) is highest (gang_bandwidth.hpp).
//
// It may use other nodes, and share the pods out otherwise: nodes whose chips are fast, whose
// adapters are up, and which have the same rails. Uniform pods only. Proven while all chip sets of
// a node can be listed (ChipOptions), for at most kMaxNeeds needs and kMaxPlans plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/chips/node_machine.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

inline constexpr int kMaxPlans = 48;

// first: a plan of the gang that fits. level_gbps: as for assign_chips(). Cost: the options of each
// kind of node (chip_options.hpp), and at most kMaxPlans times that of plan_gang() and O(nodes);
// none of these if no node offers more than the plan already gets.
domain::Plan fastest_plan(const Fabric& fabric, const std::vector<std::string>& level_names,
                          const domain::Gang& gang, const NodeMachines& machines,
                          const std::vector<std::optional<double>>& level_gbps, domain::Plan first);

// What a plan's levels let through, GB/s; infinite where nothing is known.
double least_level_gbps(const domain::Plan& plan,
                        const std::vector<std::optional<double>>& level_gbps);

}  // namespace chipweave::solver
