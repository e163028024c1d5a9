// Signals from an NvmlSnapshot: everything that is, or may be, wrong with a device. The health
// policy decides what follows from each.
//
// States: nvml.lost, nvml.failed, nvml.row-remap-failed, nvml.row-remap-pending,
// nvml.pages-pending, nvml.recovery-action, nvml.fabric-unhealthy, nvml.fabric-limited,
// nvml.fabric-incomplete, nvml.fabric-degraded, nvml.mig, nvml.mig-pending, nvml.thermal.
// Counters: nvml.ecc-uncorrected, nvml.ecc-corrected, and of a port nvlink.replay, nvlink.recovery,
// nvlink.crc. Counters are emitted at zero, too: only then is the first rise visible.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/domain/observation.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

// At most 13 per device and three per link.
std::vector<domain::Signal> signals_of(const NvmlSnapshot& snapshot);

// One text for each instance, separated by commas: the first ones and how many there are besides,
// as texts that are published are short.
std::string listed_instances(const NvmlMig& mig,
                             const std::function<std::string(const NvmlMigInstance&)>& text);

// "1g.10gb", or "unknown profile".
std::string profile_text(const NvmlMigInstance& instance);

}  // namespace chipweave::agent
