// The running pods of a gang one by one, as a repair must know them: which pod of the gang each one
// is, in which role or subgroup, and with which rank.
//
// A pod's number is the one that the request lists, else its rank. Its set is a subgroup that lists
// the pod's node in its own `existing`, the subgroup with that number first; else the set whose
// numbers include it, as pods are numbered through the sets in their order. Where a node's ranks
// are not listed, its pods have the lowest free numbers, of their subgroup where that is known,
// depth-first, and their numbers are their ranks.
#pragma once

#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

struct RunningPod {
  FabricNodeId node = kNowhere;
  int pod = 0;
  int rank = 0;
  int set = domain::kNoSet;
};

// For a repair, where Gang::pods and the sets' pods include the running ones. Depth-first by node.
// O(pods log pods + nodes x sets that name them).
std::vector<RunningPod> identify_pods(const Fabric& fabric, const domain::Gang& gang);

// The chips of such a pod.
int chips_of(const domain::Gang& gang, const RunningPod& pod);

}  // namespace chipweave::solver
