// Bounds — what the pods of a simulated cluster could have at most: each of them alone on the
// empty cluster, and all of them together.
#pragma once

#include <span>
#include <vector>

#include "common/solver/simulate/replay.hpp"

namespace chipweave::simulate {

// The oracle: GB/s that each pod of the trace would have alone on the empty cluster, on the node
// that is best for it; 0 with fewer than two chips, or if no empty node has room.
std::vector<double> alone_gbps(const std::vector<domain::TracePod>& pods,
                               const ModelCluster& cluster);

// An upper bound of the sum of GB/s of these pods if all of them run at the same time, wherever
// they are: a node gives its chips to any pods that fit it when it is empty, and each pod has the
// best bandwidth of its size there. Exact for that relaxed problem (a transportation problem).
double most_gbps_together(const std::vector<domain::TracePod>& pods,
                          std::span<const PlacedPod> placed, const ModelCluster& cluster);

}  // namespace chipweave::simulate
