// From what NVML says to signals: everything that is, or may be, wrong with a device, without
// judgement. What follows from each is the health policy's to say.
//
// States: nvml.lost, nvml.failed, nvml.row-remap-failed, nvml.row-remap-pending,
// nvml.pages-pending, nvml.recovery-action, nvml.fabric-unhealthy, nvml.fabric-limited,
// nvml.fabric-incomplete, nvml.fabric-degraded, nvml.mig, nvml.thermal. Counters:
// nvml.ecc-uncorrected, nvml.ecc-corrected, and of a port nvlink.replay, nvlink.recovery,
// nvlink.crc. What has not gone wrong yet is counted, too: only from 0 on can a rise be seen.
#pragma once

#include <string>
#include <vector>

#include "common/domain/observation.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

// At most a dozen of each device and three of each of its links.
std::vector<domain::Signal> signals_of(const NvmlSnapshot& snapshot);

// The instances for people: "MIG-… (GPU instance 1, compute instance 0, 3 slices, 40448 MiB), …".
std::string mig_text(const NvmlMig& mig);

}  // namespace chipweave::agent
