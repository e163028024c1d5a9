// The placement rule of a machine whose source does not name one.
#pragma once

#include "common/domain/node_topology.hpp"
#include "common/domain/placement_rule.hpp"

namespace chipweave::domain {

struct RuleGuess {
  PlacementRule rule;
  bool certain = true;  // false: an Ascend machine with unknown wiring
};

// Any set for GPUs; for Ascend by the groups that link kinds and chip indices form (HCCS rings of
// 4, meshes of 8, SIO modules, UB meshes of 4). A missing link or chip does not change the groups.
RuleGuess guess_rule(const NodeTopology& topology);

}  // namespace chipweave::domain
