// What DCMI measures of a device: temperatures, power, HBM, load and clock of the AI cores, ECC,
// rates of HCCS links.
//
// DCMI counts the messages of HCCS links and not their bytes, so the rates are those of the 20 ms
// for which its call for the bandwidth blocks. Not read: memory of chips without HBM, whose struct
// differs between published headers; reasons for throttling, which it does not report. Units: DCMI
// API reference and the headers of npu-exporter. Tested with tests/fakes/dcmi only.
#pragma once

#include <optional>
#include <vector>

#include "common/domain/chip_metrics.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"

namespace chipweave::agent {

// pcs: the HCCS links in use. A failed call costs its value and leaves no message; after a timeout
// the other calls are not made, since they would time out, too. nullopt: the device answers
// nothing.
std::optional<domain::ChipMetrics> measure_dcmi(const DcmiLibrary& library, const DcmiPlace& place,
                                                domain::ChipIndex chip,
                                                const std::vector<int>& pcs);

}  // namespace chipweave::agent
