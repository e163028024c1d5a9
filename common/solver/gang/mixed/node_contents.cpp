#include "common/solver/gang/mixed/node_contents.hpp"

#include <algorithm>

namespace chipweave::solver {

void NodeContents::put(FabricNodeId node, int chips, int pods) {
  const ChipFit* fit = fabric_->chip_fit();
  if (fit == nullptr || chips == 0 || pods == 0 || !fit->restricts(node)) return;
  std::vector<int>& sizes = sizes_[node];
  sizes.insert(sizes.end(), static_cast<std::size_t>(pods), chips);
}

int NodeContents::most(FabricNodeId node, int chips, int pods) const {
  ChipFit* fit = fabric_->chip_fit();
  if (fit == nullptr || chips == 0 || !fit->restricts(node)) return pods;
  std::vector<int> sizes;
  if (const auto at = sizes_.find(node); at != sizes_.end()) sizes = at->second;
  const std::size_t before = sizes.size();
  // Fewer pods fit where more do, and usually all do.
  for (int more = pods; more > 0; --more) {
    sizes.resize(before + static_cast<std::size_t>(more), chips);
    if (fit->fits(node, sizes)) return more;
  }
  return 0;
}

const std::vector<std::pair<FabricNodeId, int>>& NodeContents::lowered(int chips) {
  const auto [at, fresh] = lowered_->try_emplace(chips);
  if (!fresh) return at->second;
  const ChipFit* fit = fabric_->chip_fit();
  for (FabricNodeId id = 0; id < fabric_->node_numbers(); ++id) {
    const FabricNode& node = fabric_->node(id);
    if (!node.in_use || !node.healthy || !fit->restricts(id)) continue;
    const int by_chips = node.free / chips;
    const int fitting = NodeContents(*fabric_).most(id, chips, by_chips);
    if (fitting < by_chips) at->second.emplace_back(id, fitting);
  }
  return at->second;
}

void NodeContents::limit(NodeUsages& usages, int chips) {
  if (fabric_->chip_fit() == nullptr || chips == 0) return;
  for (auto& [node, usage] : usages) usage.most = kUnlimitedPods;
  for (const auto& [node, pods] : lowered(chips)) usages[node].most = pods;
  for (const auto& [node, sizes] : sizes_) {
    NodeUsage& usage = usages[node];
    usage.most = most(node, chips, (fabric_->node(node).free - usage.used_chips) / chips);
  }
}

}  // namespace chipweave::solver
