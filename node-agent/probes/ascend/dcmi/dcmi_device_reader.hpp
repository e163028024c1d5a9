// Reads what the driver says of one device. Part of dcmi_reader.cpp.
#pragma once

#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

DcmiPulse read_dcmi_pulse(const DcmiLibrary& library, const DcmiPlace& place);
DcmiDevice read_dcmi_device(const DcmiLibrary& library, const DcmiPlace& place);

}  // namespace chipweave::agent
