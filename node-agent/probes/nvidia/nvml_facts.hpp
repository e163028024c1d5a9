// Facts about a machine with NVIDIA GPUs, by name: "driver" "550.54.15", "cuda" "12.4", "product",
// "memory-mib", "sm" "9.0", "nvlink.version" "4.0" (each only where all GPUs agree),
// "fabric.clique" "<cluster UUID>.<clique>" as in NVIDIA's node label, "module.<index>", and
// "mig.<index>", the instances of that GPU.
#pragma once

#include <map>
#include <string>

#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

// GPUs that are lost or failed are ignored.
std::map<std::string, std::string> facts_of(const NvmlSnapshot& snapshot);

}  // namespace chipweave::agent
