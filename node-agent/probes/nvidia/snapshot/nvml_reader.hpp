// Reads an NvmlSnapshot from an initialised library; its counts, texts and enums are all checked.
#pragma once

#include "common/base/result.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

// Reads everything. unavailable: the devices cannot be counted. No device at all is a snapshot
// without devices.
Result<NvmlSnapshot> read_nvml(const NvmlLibrary& library);

}  // namespace chipweave::agent
