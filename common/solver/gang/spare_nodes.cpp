#include "common/solver/gang/spare_nodes.hpp"

#include <algorithm>
#include <map>

#include "common/solver/gang/uniform/uniform_pods.hpp"

namespace chipweave::solver {

SpareNodes::SpareNodes(const Fabric& fabric, domain::Spare spare) : fabric_(fabric), spare_(spare) {
  for (FabricNodeId id = 0; id < fabric.node_numbers(); ++id) {
    const FabricNode& node = fabric.node(id);
    if (node.in_use && node.healthy) chips_ = std::max(chips_, node.free);
  }
}

bool SpareNodes::whole(FabricNodeId id) const {
  const FabricNode& node = fabric_.node(id);
  return chips_ > 0 && node.healthy && node.free == chips_;
}

std::vector<FabricNodeId> SpareNodes::whole_below(DomainId domain) const {
  std::vector<FabricNodeId> out;
  fabric_.each_node_below(domain, [&](FabricNodeId id) {
    if (whole(id)) out.push_back(id);
  });
  return out;
}

bool SpareNodes::left_by(std::vector<FabricNodeId> used) const {
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::map<DomainId, int> taken;
  for (const FabricNodeId node : used)
    taken[fabric_.domain_of(node, spare_.level)] += whole(node) ? 1 : 0;
  return std::all_of(taken.begin(), taken.end(), [this](const auto& one) {
    return static_cast<int>(whole_below(one.first).size()) - one.second >= spare_.nodes;
  });
}

bool SpareNodes::exclude(NodeUsages& usages) const {
  bool all_pools = true;
  for (const DomainId domain : fabric_.domains_of_level(kRootDomain, spare_.level)) {
    all_pools = all_pools && fabric_.is_pool(domain);
    std::vector<FabricNodeId> nodes = whole_below(domain);
    if (static_cast<int>(nodes.size()) < spare_.nodes) {
      fabric_.each_node_below(domain, [&](FabricNodeId node) { usages[node].excluded = true; });
      continue;
    }
    std::map<DomainId, int> of_pool;
    for (const FabricNodeId node : nodes) ++of_pool[fabric_.pool_of(node)];
    std::stable_sort(nodes.begin(), nodes.end(), [&](FabricNodeId a, FabricNodeId b) {
      return of_pool[fabric_.pool_of(a)] < of_pool[fabric_.pool_of(b)];
    });
    for (int i = 0; i < spare_.nodes; ++i)
      usages[nodes[static_cast<std::size_t>(i)]].excluded = true;
  }
  return all_pools;
}

}  // namespace chipweave::solver
