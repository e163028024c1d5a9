// The placement rule that a machine follows when its source does not say.
#pragma once

#include "common/domain/node_topology.hpp"
#include "common/domain/placement_rule.hpp"

namespace chipweave::domain {

struct RuleGuess {
  PlacementRule rule;
  bool certain = true;  // false: an Ascend machine that is not wired as any whole one known
};

// Any set for GPUs; for Ascend from the groups that link kinds and chip indices show (HCCS rings of
// 4, meshes of 8, SIO modules, UB meshes of 4). A lost link or chip does not change the groups.
RuleGuess guess_rule(const NodeTopology& topology);

}  // namespace chipweave::domain
