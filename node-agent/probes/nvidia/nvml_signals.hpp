// Signals from an NvmlSnapshot: everything that is, or may be, wrong with a device. The health
// policy decides what follows from each.
//
// States: nvml.lost, nvml.failed, nvml.row-remap-failed, nvml.row-remap-pending,
// nvml.pages-pending, nvml.recovery-action, nvml.fabric-unhealthy, nvml.fabric-limited,
// nvml.fabric-incomplete, nvml.fabric-degraded, nvml.mig, nvml.thermal. Counters:
// nvml.ecc-uncorrected, nvml.ecc-corrected, and of a port nvlink.replay, nvlink.recovery,
// nvlink.crc. Counters are emitted at zero, too: only then is the first rise visible.
#pragma once

#include <string>
#include <vector>

#include "common/domain/observation.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

// At most a dozen per device and three per link.
std::vector<domain::Signal> signals_of(const NvmlSnapshot& snapshot);

// The instances as text: "MIG-… (GPU instance 1, compute instance 0, 3 slices, 40448 MiB), …".
std::string mig_text(const NvmlMig& mig);

}  // namespace chipweave::agent
