// tor_affinity — leaf switch affinity of MindCluster (label tor-affinity, "NSLB"): which nodes a
// job takes, in the order of its ranks, so that jobs do not meet on the links above the leaves.
// One pod a node. Pure: state of the leaves in, nodes and new states out.
//
// A job under one leaf meets nobody: every kind of network tries that first. A job of
// large-model-schema with fewer than 4 replicas (a filler) is not placed otherwise.
//
// single_layer: all pods under one leaf, the one with the fewest sufficient nodes.
//
// nslb_1: links are dealt out by slice, a node's place below its leaf, so a job that crosses leaves
//   takes leaves under which no other crossing job runs, and goes over
//   - complete leaves (all their places can take a pod), if there are enough of them, else
//   - logical leaves: rows of nodes with one node of every slice each, over several leaves. Each
//     slice is used as often as any other, or once more where the pods are no multiple.
//   Without either, large-model-schema is refused; normal-schema takes any nodes, clean leaves
//   only if those suffice.
//
// nslb_2: leaves are free, exclusive (of one crossing job) or shared.
//   - Under one leaf: exclusive ones are tried first, then unhealthy shared, shared, free.
//   - Else free leaves are taken completely, largest first, and become exclusive. What is left goes
//     to a free leaf of exactly that size, else to up to `shared_tors` healthy shared leaves, else
//     to a free leaf that becomes shared.
//   - Where that does not suffice, large-model-schema is refused; normal-schema takes all free
//     leaves, then unhealthy shared leaves and then those that no large model uses: these become
//     unhealthy.
//
// Where these rules leave a choice: the fewest leaves, then those with the fewest nodes left over
// (one by one for what is left after whole leaves), then natural order of names. Ranks go leaf by
// leaf, shared leaves last, and inside a leaf by slice; with logical leaves row by row.
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
  std::size_t row = 0;  // of logical leaves; else the used leaves counted in order of ranks
};

struct TorLeafUse {
  std::size_t leaf = 0;
  domain::TorState state;  // from now on; as before if the job stays under one leaf
  int pods = 0;
};

struct TorPlan {
  bool fits = false;
  std::vector<TorPod> pods;        // by rank
  std::vector<TorLeafUse> leaves;  // in order of ranks
  bool fewest = true;              // proven: no way by these rules uses fewer leaves
  std::string reason;              // why it does not fit
};

// Errors (invalid_argument): no pods, shared_tors neither 1 nor 2, a leaf that is named twice or
// has more nodes than leaf_nodes. Schema `none`: any nodes, fewest leaves.
// Cost: O(leaves x (leaves + pods) + nodes); logical leaves: also that of fewest_rows
// (tor_slices.hpp).
Result<TorPlan> plan_tor(const std::vector<TorLeaf>& leaves, int replicas,
                         const domain::TorRequest& request);

// What NSLB 2.0 writes on a pod. A job under one leaf says of it that it is free, whatever it is.
struct TorAnnotations {
  std::string is_shared_tor;  // "0" free, "1" shared, "2" exclusive
  std::string is_healthy;     // "0" healthy, "1" not
  std::string shared_tor_ip;  // of a shared leaf: its name; else there is no such annotation
};
TorAnnotations tor_annotations(const std::vector<TorLeaf>& leaves, const TorPlan& plan,
                               const TorPod& pod);

}  // namespace chipweave::solver
