// Makes a changed copy of an immutable machine; everything else stays as it is.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

// The change to each part; empty: none. Indices, kinds and lanes must not change.
struct TopologyEdit {
  // A chip that is not kept takes its links, ports and partitions with it.
  std::function<bool(const Chip&)> keeps_chip;
  std::function<void(Chip&)> chip;
  std::function<void(DirectLink&)> link;
  std::function<void(const Switch&, SwitchPort&)> port;
  std::function<LinkKind(int a, int b)> host_path;  // of two slots, a < b
  std::function<bool(const Nic&)> keeps_nic;
  std::optional<std::vector<Nic>> nics;  // replaces the existing ones
};

// Errors: those of TopologyBuilder.
Result<NodeTopology> rebuilt(const NodeTopology& topology, const TopologyEdit& edit);

// The same for chips alone.
Result<NodeTopology> with_chips(const NodeTopology& topology, std::function<void(Chip&)> edit);

}  // namespace chipweave::domain
