// Which sets of GPUs may be handed out where the NVSwitches of one machine serve several tenants
// (Fabric Manager's shared NVSwitch mode).
//
// NVML does not say whether a machine is in that mode, nor which sets Fabric Manager lists: the
// operator says the mode, and the sets are the defaults of its board (NVIDIA Fabric Manager user
// guide, "GPU Partitions", tables of HGX A100, H100 and B200): all eight, two of four, four of two,
// eight singles, by module id. The pairs are not the same on all boards: modules 1+3, 2+4, 5+7, 6+8
// on Hopper's, neighbours on the others. What an operator had NVIDIA define otherwise is not seen.
#pragma once

#include <vector>

#include "common/codec/text/warnings.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

enum class FabricPartitions {
  none,  // any set may be handed out
  hgx8,  // an eight-GPU HGX board in shared NVSwitch mode
};

// Empty, with a warning, where the machine is no such board, or does not say so: eight GPUs of
// module ids 1 to 8 that are all Ampere, Hopper or Blackwell.
std::vector<std::vector<domain::ChipIndex>> fabric_partitions(const NvmlSnapshot& snapshot,
                                                              FabricPartitions mode,
                                                              codec::Warnings& warnings);

}  // namespace chipweave::agent
