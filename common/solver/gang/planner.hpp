// Planner — places a whole gang at once: as many of its pods as its rules allow, on the fewest
// domains of every level at once (FewestDomains), and numbers them so that ranks cross the fewest
// borders.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/room.hpp"

namespace chipweave::solver {

// Existing pods of the gang, by node.
using Existing = std::unordered_map<FabricNodeId, int>;

struct GangQuestion {
  domain::Gang gang;
  Existing existing;  // pods of the gang that run already, by node
};

// level_names: for the words of Plan::reason, coarsest first, as many as the fabric has levels.
// Cost: O(nodes) to count what each can take, then that of FewestDomains for each domain of the
// required level that could hold the gang.
domain::Plan plan_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                       const GangQuestion& question);

// "b1/r1" of a domain; what is not known is empty.
std::string path_text(const Fabric& fabric, DomainId domain);

}  // namespace chipweave::solver
