// What DCMI reports about health, as signals of the machine.
//
//   dcmi.<8 hex digits>                   state    an active error code, with the driver's text
//   dcmi.health.minor|major|critical      state    value 1, 2, 3: the worst of its alarms
//   dcmi.gone                             state    the driver does not respond for the device
//   hccn.net-health                       state    its network port cannot reach its target
//   hccs.down                             state    of the chip: DCMI does not report single links
//   hccs.crc, hccs.retry                  counter  by port: the number of the PCS
#pragma once

#include <vector>

#include "common/domain/observation.hpp"
#include "node-agent/probes/ascend/ascend_generation.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

// In the order of the chips. HCCS is left out for generations for which DCMI's answer is not
// documented.
std::vector<domain::Signal> signals_of(const DcmiSnapshot& snapshot, AscendGeneration generation);

}  // namespace chipweave::agent
