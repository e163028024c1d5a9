// AmdMachine — the accelerators of a machine as KFD lists them: wiring, and of each chip what a
// topology has no place for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/probes/host/host_view.hpp"

namespace chipweave::agent {

struct AmdChip {
  std::string key;      // what it is known by again: its id, else its PCI address
  std::string package;  // what it shares with the other partitions of its package
  std::string pci;      // of the package on the bus; "" where the bus does not show it
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

// Slots of `before` that `now` has no more; nullopt where `now` is not `before` without some of its
// packages: it has new chips, or a package that is divided otherwise.
std::optional<std::vector<int>> lost_chips(const AmdMachine& before, const AmdMachine& now);

}  // namespace chipweave::agent
