// DeclaredFaults — chips and links that a person declares broken, in a health file or on the
// command line, by vendor index. Detected faults are domain::Fault (fault.hpp).
#pragma once

#include <optional>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

struct DownLink {
  ChipIndex a, b;
  std::optional<int> lanes;  // absent: all lanes
};

struct DeclaredFaults {
  std::vector<ChipIndex> unhealthy;
  std::vector<ChipIndex> network_unhealthy;
  std::vector<DownLink> down_links;
};

}  // namespace chipweave::domain
