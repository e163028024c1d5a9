#include "common/solver/gang/defrag/whole_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace chipweave::solver {

std::int64_t usual_node_size(const Fabric& fabric, const std::vector<ChipUse>& uses) {
  std::map<std::int64_t, int> nodes;
  fabric.each_node_below(kRootDomain, [&](FabricNodeId id) {
    if (fabric.node(id).healthy && uses[id].chips > 0) ++nodes[uses[id].chips];
  });
  std::int64_t out = 0;
  int most = 0;
  for (const auto& [chips, count] : nodes) {
    if (count < most) continue;
    out = chips;
    most = count;
  }
  return out;
}

std::vector<int> largest_whole_node_gangs(const Fabric& fabric, const std::vector<ChipUse>& uses,
                                          std::int64_t chips) {
  std::vector<int> out(fabric.levels(), 0);
  if (chips == 0) return out;
  std::vector<int> nodes(fabric.domain_numbers(), 0);
  fabric.each_node_below(kRootDomain, [&](FabricNodeId id) {
    if (!fabric.node(id).healthy || uses[id].in_use || uses[id].chips < chips) return;
    for (DomainId in = fabric.node(id).domain; in != kRootDomain; in = fabric.parent(in)) {
      int& most = out[static_cast<std::size_t>(fabric.level(in))];
      most = std::max(most, ++nodes[in]);
    }
  });
  return out;
}

}  // namespace chipweave::solver
