// Reads what NVML says of the NVLinks of one device. Part of nvml_device_reader.cpp.
#pragma once

#include "node-agent/probes/nvidia/nvml/nvml_asker.hpp"

namespace chipweave::agent {

// Fills device.links. The device's compute capability must have been read: newer ones answer other
// calls.
void read_links(NvmlAsker& asker, NvmlDevice& device);

}  // namespace chipweave::agent
