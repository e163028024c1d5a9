// plan_gang — places a whole gang at once: as many of its pods as its rules allow, on the fewest
// domains of every level, and numbers them so that the ring of ranks crosses the fewest borders.
//
// Uniform pods go to FewestDomains (exact at any size) or EvenShares. Roles, subgroups, pods of
// several sizes and pods with chosen nodes go to ExactSets while that is small enough, then to
// SetBySet.
#pragma once

#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/capacity.hpp"

namespace chipweave::solver {

// GangNodeId is a FabricNodeId. level_names: for Plan::reason, coarsest first, one for each level
// of the fabric. usages: nodes to exclude in addition to unhealthy ones, and what has been placed
// since the fabric was updated; used for uniform pods only. Cost: O(pools x kinds of nodes in them)
// for the capacities, then that of the solver, and O(pods log pods) for the ranks.
domain::Plan plan_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                       const domain::Gang& gang, const NodeUsages& usages = {});

int nodes_used(const domain::Plan& plan);

// The path of a domain: "b1/r1"; unknown elements are empty.
std::string path_text(const Fabric& fabric, DomainId domain);

}  // namespace chipweave::solver
