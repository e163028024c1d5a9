// Fragmentation — how many free chips a typical pod cannot use, as the FGD paper defines it
// ("Beware of Fragmentation", USENIX ATC 2023).
//
// For one node and one class of requests: all free chips of the node if a pod of the class cannot
// run there now, for lack of chips, CPU or memory, or because it asks for no chip at all; otherwise
// none. Averaged over the classes by their share. In chips.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/solver/simulate/cluster/request_mix.hpp"

namespace chipweave::simulate {

class Fragmentation {
 public:
  Fragmentation(std::vector<RequestClass> mix, const std::vector<ModelNode>& nodes);

  // Expected chips of this node that a pod cannot use.
  double of(const ModelNode& node) const;
  // The same for a node of the cluster, kept by update().
  double of(std::size_t node) const { return by_node_[node]; }
  // Call it after each change of a node.
  void update(std::size_t node, const ModelNode& now);
  // Of all nodes.
  double total() const { return std::max(total_, 0.0); }  // sums of rounded terms

 private:
  std::vector<RequestClass> mix_;
  std::vector<double> by_node_;
  double total_ = 0;
};

}  // namespace chipweave::simulate
