// AmdMachine — the accelerators of a machine as KFD lists them: their wiring, and details of each
// chip that a topology has no field for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/probes/host/host_view.hpp"

namespace chipweave::agent {

struct AmdChip {
  std::string key;      // identifies the chip in later observations: its id, else its PCI address
  std::string package;  // what it shares with the other partitions of its package
  std::string pci;      // of the package on the bus; "" if the bus does not show it
  std::string gfx;      // "gfx942"
  int render_minor = -1;
};

struct AmdMachine {
  domain::NodeTopology topology;
  std::vector<AmdChip> chips;  // by slot
  std::vector<std::string> warnings;
};

// not_found: no KFD, or no GPU in it. Other errors: it has GPUs, but its tree cannot be used.
Result<AmdMachine> read_amd_machine(const SysfsTree& tree, const HostView& host);

// Slots of `before` that are missing from `now`; nullopt if `now` is not `before` with some
// packages removed, but has new chips, or a package with other partitions.
std::optional<std::vector<int>> lost_chips(const AmdMachine& before, const AmdMachine& now);

}  // namespace chipweave::agent
