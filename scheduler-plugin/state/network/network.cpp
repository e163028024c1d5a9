#include "scheduler-plugin/state/network/network.hpp"

#include <algorithm>

namespace chipweave::sched {

std::optional<int> Network::level_of(std::string_view name) const {
  if (name == levels_.front()) return 0;
  return std::nullopt;
}

solver::Fabric& Network::fabric(const std::string& resource) {
  solver::Fabric& fabric = fabrics_.try_emplace(resource, levels_.size()).first->second;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_.node(id);
    const auto& offered = node.resources;
    if (std::find(offered.begin(), offered.end(), resource) == offered.end()) continue;
    solver::FabricNodeId at = fabric.find(node.name);
    if (at == solver::kNowhere) at = *fabric.add(node.name, {node.name});
    fabric.set_free(at, (node.free() - node.network_unhealthy).size());
    fabric.set_healthy(at, node.has_inventory() && !node.stale && !node.closed());
  }
  return fabric;
}

}  // namespace chipweave::sched
