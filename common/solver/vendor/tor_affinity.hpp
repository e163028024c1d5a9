// tor_affinity — leaf switch affinity of MindCluster (label tor-affinity, "NSLB"): which nodes a
// job takes, in the order of its ranks, so that jobs do not share the links above the leaves. One
// pod per node. Pure: takes the state of the leaves, returns nodes and new states.
//
// A job under one leaf shares no links, so every kind of network tries that first. A job of
// large-model-schema with fewer than 4 replicas (a filler) is not placed otherwise.
//
// single_layer: all pods under one leaf, the one with the fewest sufficient nodes.
//
// nslb_1: links are assigned by slice, a node's position below its leaf. A job that crosses leaves
// takes only leaves without another crossing job, and uses
//   - complete leaves (every position can take a pod), if there are enough of them, else
//   - logical leaves: rows of nodes, one of every slice, over several leaves. All slices are used
//     equally often, some one more time if the number of pods is not a multiple.
// Otherwise large-model-schema is rejected; normal-schema takes any nodes, only clean leaves if
// those suffice.
//
// nslb_2: leaves are free, exclusive (to one crossing job) or shared.
//   - Under one leaf: exclusive ones are tried first, then unhealthy shared, shared, free.
//   - Otherwise whole free leaves are taken, largest first, and become exclusive. The rest goes to
//     a free leaf of exactly that size, else to up to `shared_tors` healthy shared leaves, else to
//     a free leaf, which becomes shared.
//   - If that does not suffice, large-model-schema is rejected; normal-schema takes all free
//     leaves, then unhealthy shared leaves, then those that no large model uses; these become
//     unhealthy.
//
// Ties: the fewest leaves, then the fewest nodes left over (leaf by leaf for the rest after whole
// leaves), then natural order of names. Ranks go leaf by leaf, shared leaves last, and by slice
// inside a leaf; with logical leaves row by row.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/vendor_job.hpp"

namespace chipweave::solver {

struct TorNode {
  std::string name;
  bool able = false;  // can take a pod
};

struct TorLeaf {
  std::string name;
  std::vector<TorNode> nodes;  // by slice
  domain::TorState state;
};

struct TorPod {
  std::size_t leaf = 0;  // position in the leaves given
  std::size_t slice = 0;
  std::size_t row = 0;  // of logical leaves; otherwise the number of the leaf in order of ranks
};

struct TorLeafUse {
  std::size_t leaf = 0;
  domain::TorState state;  // new state; unchanged if the job stays under one leaf
  int pods = 0;
};

struct TorPlan {
  bool fits = false;
  std::vector<TorPod> pods;        // by rank
  std::vector<TorLeafUse> leaves;  // in order of ranks
  bool fewest = true;              // proven to use the fewest leaves that these rules allow
  std::string reason;              // why it does not fit
};

// Errors (invalid_argument): no pods, shared_tors neither 1 nor 2, a leaf that is named twice or
// has more nodes than leaf_nodes. Schema `none`: any nodes, fewest leaves.
// Cost: O(leaves x (leaves + pods) + nodes); logical leaves: also that of fewest_rows
// (tor_slices.hpp).
Result<TorPlan> plan_tor(const std::vector<TorLeaf>& leaves, int replicas,
                         const domain::TorRequest& request);

}  // namespace chipweave::solver
