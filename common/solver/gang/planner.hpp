// Planner — places a whole gang at once: as many of its pods as its rules allow, on the fewest
// domains of every level at once, and numbers them so that ranks cross the fewest borders.
//
// Which solver: pods that are all alike go to FewestDomains (exact at any size) or EvenShares;
// sets, pods of several sizes and chosen nodes to ExactSets while that is small enough, then to
// SetBySet.
#pragma once

#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/room.hpp"

namespace chipweave::solver {

// GangNodeId is Fabric's number of a node. level_names: for the words of Plan::reason, coarsest
// first, as many as the fabric has levels. Cost: O(units of the fabric x kinds of nodes in them) to
// count what each can take, then that of the solver; O(pods log pods) for the ranks.
// notes: nodes that take none, beside those that are not healthy, and what was given away since the
// fabric was told; heeded where pods are alike.
domain::Plan plan_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                       const domain::Gang& gang, const Notes& notes = {});

int nodes_used(const domain::Plan& plan);

// "b1/r1" of a domain; what is not known is empty.
std::string path_text(const Fabric& fabric, DomainId domain);

}  // namespace chipweave::solver
