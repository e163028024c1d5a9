// Gangs of whole nodes — the largest gang of pods that take a whole node each, inside one domain of
// each level: what defragmentation is for.
#pragma once

#include <cstdint>
#include <vector>

#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// The chips of a node.
struct ChipUse {
  std::int64_t chips = 0;  // free or held by pods
  bool in_use = false;     // has chips in use
};

// The number of chips that most healthy nodes have; of several the largest; 0: none has any.
std::int64_t usual_node_size(const Fabric& fabric, const std::vector<ChipUse>& uses);

// By level: the most healthy nodes of one domain that have at least `chips` and none in use. uses:
// by FabricNodeId. O(nodes x levels).
std::vector<int> largest_whole_node_gangs(const Fabric& fabric, const std::vector<ChipUse>& uses,
                                          std::int64_t chips);

}  // namespace chipweave::solver
