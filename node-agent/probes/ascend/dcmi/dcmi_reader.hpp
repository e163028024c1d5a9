// Reads a DcmiSnapshot from an initialised library; its counts, texts and numbers are all checked.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

// Reads everything. unavailable: the devices cannot be listed. No device at all is a snapshot
// without devices.
Result<DcmiSnapshot> read_dcmi(const DcmiLibrary& library);

// Reads only what changes, for all devices listed now: four calls per device.
Result<std::vector<DcmiSample>> read_dcmi_samples(const DcmiLibrary& library);

}  // namespace chipweave::agent
