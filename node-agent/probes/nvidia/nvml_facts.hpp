// Facts about a machine with NVIDIA GPUs, by name: "driver" "550.54.15", "cuda" "12.4", "product",
// "memory-mib", "sm" "9.0", "nvlink.version" "4.0" (each only where all GPUs agree),
// "fabric.clique" "<cluster UUID>.<clique>" as in NVIDIA's node label, "module.<index>", and of a
// GPU in MIG mode "mig.<index>", its instances: "1g.10gb 9984 MiB, 3g.40gb 40448 MiB", and for each
// "mig.<index>.<position>": "1g.10gb, 9984 MiB, MIG-…, GPU instance 1, compute instance 0".
#pragma once

#include <map>
#include <string>

#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

// Single instances: of the machine's first kMaxMigFacts, as an inventory holds few facts. What GPUs
// that are lost or failed report is not compared.
inline constexpr std::size_t kMaxMigFacts = 112;  // sixteen GPUs of seven
std::map<std::string, std::string> facts_of(const NvmlSnapshot& snapshot);

}  // namespace chipweave::agent
