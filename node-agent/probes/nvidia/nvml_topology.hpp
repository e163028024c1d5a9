// From what NVML says to what the machine is.
//
// NVLinks to peers become direct links, those to NVSwitches (or to what a virtual machine cannot
// see, as NCCL assumes) ports of one switch. A link holds as far as both ends agree; what only one
// end has up is down. A GPU with MIG on is a chip without NVLink: its instances cannot use it. No
// chip is judged here: what is wrong with a device is a signal (nvml_signals.hpp).
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
  std::vector<domain::Port> ports;    // the usable links, as either end has them
  std::vector<std::string> warnings;  // what was assumed or left out, for people
};

// not_found: no device. invalid_argument: devices that contradict each other (two of one bus id).
Result<NvmlTopology> topology_of(const NvmlSnapshot& snapshot,
                                 FabricPartitions partitions = FabricPartitions::none);

}  // namespace chipweave::agent
