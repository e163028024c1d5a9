// Changing parts of an immutable machine: everything else stays as it is.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// What is done to each part; empty: nothing. Indices, kinds and lanes must be left alone.
struct TopologyEdit {
  std::function<void(domain::Chip&)> chip;
  std::function<void(domain::DirectLink&)> link;
  std::function<void(const domain::Switch&, domain::SwitchPort&)> port;
  std::function<domain::LinkKind(int a, int b)> host_path;  // of two slots, a < b
  std::function<bool(const domain::Nic&)> keeps_nic;
  std::optional<std::vector<domain::Nic>> nics;  // in place of those that are there
};

// What the builder refuses is an error.
Result<domain::NodeTopology> rebuilt(const domain::NodeTopology& topology,
                                     const TopologyEdit& edit);

// The same for chips alone.
Result<domain::NodeTopology> with_chips(const domain::NodeTopology& topology,
                                        std::function<void(domain::Chip&)> edit);

}  // namespace chipweave::agent
