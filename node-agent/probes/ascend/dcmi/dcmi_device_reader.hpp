// Reads one device for dcmi_reader.cpp.
#pragma once

#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

DcmiSample read_dcmi_sample(const DcmiLibrary& library, const DcmiPlace& place);
DcmiDevice read_dcmi_device(const DcmiLibrary& library, const DcmiPlace& place);

}  // namespace chipweave::agent
