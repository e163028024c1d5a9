// Reads the MIG instances of one GPU for nvml_device_reader.cpp.
#pragma once

#include <vector>

#include "node-agent/probes/nvidia/nvml/nvml_query.hpp"

namespace chipweave::agent {

// In the driver's order; at most kMaxMigInstances.
inline constexpr unsigned kMaxMigInstances = 64;  // real GPUs have at most seven
std::vector<NvmlMigInstance> read_mig_instances(NvmlQuery& query);

}  // namespace chipweave::agent
