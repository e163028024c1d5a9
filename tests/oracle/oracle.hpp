// Oracle — the bandwidth model and the vendor rules restated in the slowest, plainest way, to check
// the solver by.
//
// Includes nothing of common/solver: all directed rings are listed one by one, the linear programme
// is a textbook tableau, the widest path is a depth-first search, the bottleneck ring tries every
// order. At most 8 chips.
#pragma once

#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::oracle {

// Predicted ring bandwidth of the set, GB/s (docs/concepts/bandwidth-model.md).
double bandwidth(const domain::NodeTopology& machine, domain::ChipSet set);

// Whether the vendor's rule accepts the set out of `usable` (Ascend rules of machines with at most
// 8 chips).
bool legal(const domain::NodeTopology& machine, domain::ChipSet set, domain::ChipSet usable,
           bool distributed);

// max c·x, A x <= b, x >= 0 by the tableau method; b >= 0.
double linear_programme(const std::vector<std::vector<double>>& a, const std::vector<double>& b,
                        const std::vector<double>& c);

}  // namespace chipweave::oracle
