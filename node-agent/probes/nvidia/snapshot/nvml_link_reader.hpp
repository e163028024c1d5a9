// Reads the NVLinks of one device for nvml_device_reader.cpp.
#pragma once

#include "node-agent/probes/nvidia/nvml/nvml_query.hpp"

namespace chipweave::agent {

// Fills device.links. The compute capability must have been read: it decides which calls work.
void read_links(NvmlQuery& query, NvmlDevice& device);

}  // namespace chipweave::agent
