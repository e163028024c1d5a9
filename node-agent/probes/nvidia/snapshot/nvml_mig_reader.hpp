// Reads the MIG instances of one GPU for nvml_device_reader.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "node-agent/probes/nvidia/nvml/nvml_query.hpp"

namespace chipweave::agent {

// Fills mig.instances in the driver's order, at most kMaxMigInstances. gpu_bytes: memory of the
// whole GPU; 0 unknown.
inline constexpr unsigned kMaxMigInstances = 64;  // real GPUs have at most seven
void read_mig_instances(NvmlQuery& query, std::uint64_t gpu_bytes, NvmlMig& mig);

// The profile of an instance, computed as NVIDIA's own tools do: "1g.10gb", or "1c.3g.40gb" for a
// compute instance that is a part of its GPU instance. "" if a number is missing.
std::string mig_profile(const nvml::DeviceAttributes& instance, std::uint64_t gpu_bytes);

}  // namespace chipweave::agent
