// NodeContents — the pods of a request that are on each node already, by their chips, and how many
// more of one size fit beside them where the fabric's machines have rules (ChipFit).
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/capacity.hpp"

namespace chipweave::solver {

class NodeContents {
 public:
  explicit NodeContents(const Fabric& fabric) : fabric_(&fabric) {}

  void put(FabricNodeId node, int chips, int pods);
  // At most `pods`; their chips must be free.
  int most(FabricNodeId node, int chips, int pods) const;
  // Lowers NodeUsage::most where a node takes fewer pods of that size than it has free chips for.
  // O(nodes) once for each size, then O(nodes that are lowered).
  void limit(NodeUsages& usages, int chips);

 private:
  // Empty nodes that take fewer pods, by chips of a pod. Copies share it.
  using Lowered = std::map<int, std::vector<std::pair<FabricNodeId, int>>>;
  const std::vector<std::pair<FabricNodeId, int>>& lowered(int chips);

  const Fabric* fabric_;
  std::unordered_map<FabricNodeId, std::vector<int>> sizes_;  // of nodes with rules only
  std::shared_ptr<Lowered> lowered_ = std::make_shared<Lowered>();
};

}  // namespace chipweave::solver
