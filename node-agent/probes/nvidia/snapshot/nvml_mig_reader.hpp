// Reads what NVML says of the instances that MIG made of one GPU. Part of nvml_device_reader.cpp.
#pragma once

#include <vector>

#include "node-agent/probes/nvidia/nvml/nvml_asker.hpp"

namespace chipweave::agent {

// In the driver's order; at most kMaxMigInstances.
inline constexpr unsigned kMaxMigInstances = 64;  // real GPUs have at most seven
std::vector<NvmlMigInstance> read_mig_instances(NvmlAsker& asker);

}  // namespace chipweave::agent
