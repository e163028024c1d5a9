#include "scheduler-plugin/state/network/resource_fabric.hpp"

#include <algorithm>

namespace chipweave::sched {

void ResourceFabric::set(NodeId id, const Node& node, const NetworkPath& path) {
  const bool offers =
      std::find(node.resources.begin(), node.resources.end(), resource_) != node.resources.end();
  if (!offers) return remove(id);
  if (numbers_.size() <= id) numbers_.resize(id + 1, solver::kNowhere);
  solver::FabricNodeId& number = numbers_[id];
  if (number == solver::kNowhere) {
    number = fabric_.add(node.name, path).value();
    if (nodes_.size() <= number) nodes_.resize(number + std::size_t{1}, kNoNode);
    nodes_[number] = id;
  }
  // A pod of a distributed job needs the network of its chips, too.
  const int free = (node.free() - node.network_unhealthy).size();
  const bool healthy = !node.stale && !node.closed();
  // each of them recounts a pool
  if (fabric_.node(number).free != free) fabric_.set_free(number, free);
  if (fabric_.node(number).healthy != healthy) fabric_.set_healthy(number, healthy);
}

void ResourceFabric::remove(NodeId id) {
  if (id >= numbers_.size() || numbers_[id] == solver::kNowhere) return;
  fabric_.remove(numbers_[id]);
  numbers_[id] = solver::kNowhere;
}

void ResourceFabric::reset(std::size_t levels) {
  fabric_ = solver::Fabric(levels);
  numbers_.clear();
}

}  // namespace chipweave::sched
