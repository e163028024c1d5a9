#include "common/solver/simulate/cluster/fragmentation.hpp"

#include <utility>

namespace chipweave::simulate {

Fragmentation::Fragmentation(std::vector<RequestClass> mix, const std::vector<ModelNode>& nodes)
    : mix_(std::move(mix)), by_node_(nodes.size()) {
  for (std::size_t i = 0; i < nodes.size(); ++i) update(i, nodes[i]);
}

double Fragmentation::of(const ModelNode& node) const {
  const int free = node.free.size();
  if (free == 0) return 0;
  double unusable = 0;
  for (const RequestClass& c : mix_) {
    if (c.shape.chips == 0 || !node.has_room(c.shape)) unusable += c.share;
  }
  return unusable * free;
}

void Fragmentation::update(std::size_t node, const ModelNode& now) {
  total_ -= by_node_[node];
  by_node_[node] = of(now);
  total_ += by_node_[node];
}

}  // namespace chipweave::simulate
