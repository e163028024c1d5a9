// AscendNames — MindCluster's names of one machine's chips: by generation and physical number,
// which can differ from the chip index.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/ascend_family.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::codec::mindcluster {

// Whether chips have a port to other nodes; without one there is no list of chips with a broken
// port.
bool has_chip_network(domain::AscendFamily generation);
// Whether nodes have HCCS or UnifiedBus switches and a place in a super pod.
bool has_super_pod(domain::AscendFamily generation);

class AscendNames {
 public:
  // `topology` must outlive it.
  explicit AscendNames(const domain::NodeTopology& topology);

  domain::AscendFamily generation() const { return generation_; }
  std::string_view prefix() const { return domain::ascend_prefix(generation_); }
  int number(const domain::Chip& chip) const;
  // The number in the chip's name; nullopt if the machine has no such chip.
  std::optional<int> number(domain::ChipIndex index) const;
  // The chip with that number in its name; nullopt if there is none.
  std::optional<domain::ChipIndex> index_of(int number) const;

 private:
  const domain::NodeTopology& topology_;
  domain::AscendFamily generation_;
};

}  // namespace chipweave::codec::mindcluster
