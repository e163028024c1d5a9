// Reads an NvmlSnapshot from a started library, trusting none of its counts, texts and enums.
#pragma once

#include "common/base/result.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

// One truth: everything is asked anew. unavailable: the devices cannot even be counted. No device
// at all is a snapshot without devices.
Result<NvmlSnapshot> read_nvml(const NvmlLibrary& library);

}  // namespace chipweave::agent
