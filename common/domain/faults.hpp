// Faults — what is known to be broken on a machine beside what its topology says; by the indices
// people use.
#pragma once

#include <optional>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

struct DownLink {
  ChipIndex a, b;
  std::optional<int> lanes;  // absent: all lanes
};

struct Faults {
  std::vector<ChipIndex> unhealthy;
  std::vector<ChipIndex> network_unhealthy;
  std::vector<DownLink> down_links;
};

}  // namespace chipweave::domain
