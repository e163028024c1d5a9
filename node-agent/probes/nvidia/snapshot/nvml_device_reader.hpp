// Reads one device for nvml_reader.cpp.
#pragma once

#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

NvmlDevice read_device(const NvmlLibrary& library, nvml::Device handle, int index);

// A device that is counted, but for which the driver returns no handle (code: its result).
NvmlDevice device_without_handle(const NvmlLibrary& library, int index, nvml::Code code);

}  // namespace chipweave::agent
