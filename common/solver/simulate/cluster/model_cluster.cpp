#include "common/solver/simulate/cluster/model_cluster.hpp"

#include <utility>

namespace chipweave::simulate {

ModelCluster::ModelCluster(std::vector<ModelNode> nodes)
    : nodes_(std::move(nodes)), empty_(nodes_) {
  for (const ModelNode& node : nodes_) chips_ += node.free.size();
  free_chips_ = chips_;
}

void ModelCluster::take(std::size_t node, const PodShape& pod, ChipSet chips) {
  ModelNode& n = nodes_[node];
  n.free -= chips;
  n.cpu_milli -= pod.cpu_milli;
  n.memory_mib -= pod.memory_mib;
  free_chips_ -= chips.size();
}

void ModelCluster::give_back(std::size_t node, const PodShape& pod, ChipSet chips) {
  ModelNode& n = nodes_[node];
  n.free |= chips;
  n.cpu_milli += pod.cpu_milli;
  n.memory_mib += pod.memory_mib;
  free_chips_ += chips.size();
}

}  // namespace chipweave::simulate
