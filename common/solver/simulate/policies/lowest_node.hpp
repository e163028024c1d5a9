// Which node has the lowest value of a policy's criterion.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "common/solver/simulate/cluster/model_cluster.hpp"

namespace chipweave::simulate {

// Compared in order; the lowest is best.
using NodeKey = std::array<double, 2>;

// The node with the lowest key among those with room, the first among equals. key_of(index, node).
template <class KeyOf>
std::optional<std::size_t> lowest_node(const ModelCluster& cluster, const PodShape& pod,
                                       std::span<const std::size_t> nodes, KeyOf key_of) {
  std::optional<std::size_t> best;
  NodeKey best_key{};
  for (const std::size_t i : nodes) {
    const ModelNode& node = cluster.nodes()[i];
    if (!node.has_room(pod)) continue;
    const NodeKey key = key_of(i, node);
    if (best && !(key < best_key)) continue;
    best = i;
    best_key = key;
  }
  return best;
}

// Mean share of CPU and memory that the pod would leave free, by which kube-scheduler prefers nodes
// unless it is configured otherwise (NodeResourcesFit, LeastAllocated). empty: the same node
// without pods.
inline double free_share(const ModelNode& node, const ModelNode& empty, const PodShape& pod) {
  const auto share = [](std::int64_t free, std::int64_t all) {
    return all > 0 ? static_cast<double>(free) / static_cast<double>(all) : 0;
  };
  return (share(node.cpu_milli - pod.cpu_milli, empty.cpu_milli) +
          share(node.memory_mib - pod.memory_mib, empty.memory_mib)) /
         2;
}

}  // namespace chipweave::simulate
