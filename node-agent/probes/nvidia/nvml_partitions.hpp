// Which sets of GPUs may be allocated where the NVSwitches of one machine serve several tenants
// (Fabric Manager's shared NVSwitch mode).
//
// NVML reports neither that mode nor the sets that Fabric Manager has: the operator states the
// mode, and the sets are the defaults of the board (NVIDIA Fabric Manager user guide, "GPU
// Partitions", tables of HGX A100, H100 and B200): all eight, two of four, four of two, eight
// singles, by module id. The pairs differ between boards: modules 1+3, 2+4, 5+7, 6+8 on Hopper's,
// neighbours on the others. Custom partitions are not supported.
#pragma once

#include <vector>

#include "common/codec/text/warnings.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

enum class FabricPartitions {
  none,  // any set may be allocated
  hgx8,  // an eight-GPU HGX board in shared NVSwitch mode
};

// Empty, with a warning, unless the machine is known to be such a board: eight GPUs with module ids
// 1 to 8 that are all Ampere, Hopper or Blackwell.
std::vector<std::vector<domain::ChipIndex>> fabric_partitions(const NvmlSnapshot& snapshot,
                                                              FabricPartitions mode,
                                                              codec::Warnings& warnings);

}  // namespace chipweave::agent
