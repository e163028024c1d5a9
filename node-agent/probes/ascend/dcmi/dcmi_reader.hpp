// Reads a DcmiSnapshot from a started library, trusting none of its counts, texts and numbers.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

// Everything asked anew. unavailable: the devices cannot even be listed. No device at all is a
// snapshot without devices.
Result<DcmiSnapshot> read_dcmi(const DcmiLibrary& library);

// Only what changes, of all devices that are listed now: four calls a device.
Result<std::vector<DcmiPulse>> read_dcmi_pulses(const DcmiLibrary& library);

}  // namespace chipweave::agent
