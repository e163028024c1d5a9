// AscendNames — how MindCluster calls the chips of one machine: by its generation and by physical
// numbers, which need not be the indices that people use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/ascend_family.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::codec::mindcluster {

// Chips without a port to other nodes have no list of those whose port is broken.
bool has_chip_network(domain::AscendFamily generation);
// HCCS or UnifiedBus switches inside the node, and a place in a super pod.
bool has_super_pod(domain::AscendFamily generation);

class AscendNames {
 public:
  // `topology` must outlive it.
  explicit AscendNames(const domain::NodeTopology& topology);

  domain::AscendFamily generation() const { return generation_; }
  std::string_view prefix() const { return domain::ascend_prefix(generation_); }
  int number(const domain::Chip& chip) const;
  // Of a chip by the index that people use; nullopt if the machine has no such chip.
  std::optional<int> number(domain::ChipIndex index) const;
  // By the number; nullopt likewise.
  std::optional<domain::ChipIndex> index_of(int number) const;

 private:
  const domain::NodeTopology& topology_;
  domain::AscendFamily generation_;
};

}  // namespace chipweave::codec::mindcluster
