// plan_on_best_nodes — which of the equally good plans of a gang is taken: the one whose nodes and
// shares serve its objective best.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/chips/node_machine.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/rails/rail_leaves.hpp"

namespace chipweave::solver {

// plan_gang(), and of equally good plans the fastest (fastest_plan.hpp), or what the gang's
// objective asks for instead; of these one with few sets of leaves (rail_leaves.hpp). level_gbps:
// as for assign_chips().
domain::Plan plan_on_best_nodes(const Fabric& fabric, const std::vector<std::string>& level_names,
                                const domain::Gang& gang, const NodeMachines& machines,
                                const std::vector<std::optional<double>>& level_gbps = {},
                                const RailLeaves& leaves = {});

}  // namespace chipweave::solver
