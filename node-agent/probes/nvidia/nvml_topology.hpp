// From what NVML says to what the machine is.
//
// NVLinks to peers become direct links, those to NVSwitches (or to what a virtual machine cannot
// see, as NCCL assumes) ports of one switch. A link holds as far as both ends agree; what only one
// end has up is down. A GPU with MIG on is a chip without NVLink: its instances cannot use it.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/probes/nvidia/nvml_snapshot.hpp"

namespace chipweave::agent {

// warnings: what was assumed, left out or is wrong with a device, for people. not_found: no device.
// invalid_argument: devices that contradict each other (two of one bus id).
Result<domain::NodeTopology> topology_of(const NvmlSnapshot& snapshot,
                                         std::vector<std::string>& warnings);

}  // namespace chipweave::agent
