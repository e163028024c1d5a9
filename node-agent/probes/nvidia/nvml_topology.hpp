// Builds the topology from an NvmlSnapshot.
//
// NVLinks to peers become direct links, those to NVSwitches (or, as NCCL assumes, to devices that a
// virtual machine cannot see) ports of one switch. A lane is up only if both ends report it up. A
// GPU with MIG enabled is a chip without NVLink: its instances cannot use it. Health is not decided
// here: problems of a device are signals (nvml_signals.hpp).
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"
#include "common/domain/observation.hpp"
#include "node-agent/probes/nvidia/nvml_partitions.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

struct NvmlTopology {
  domain::NodeTopology topology;
  std::vector<domain::Port> ports;    // the usable links, one port per end
  std::vector<std::string> warnings;  // what was assumed or left out
};

// not_found: no device. invalid_argument: devices that contradict each other (two of one bus id).
Result<NvmlTopology> topology_of(const NvmlSnapshot& snapshot,
                                 FabricPartitions partitions = FabricPartitions::none);

}  // namespace chipweave::agent
