// What DCMI reports about health, as signals of the machine.
//
//   dcmi.<8 hex digits>                   state    an active error code, with the driver's text
//                                         event    the same for an error that leaves no state
//   dcmi.health.minor|major|critical      state    value 1, 2, 3: the worst of its alarms
//   dcmi.gone                             state    the driver has no such device
//   dcmi.not-responding                   state    the driver cannot tell its health now: not in
//   time,
//                                                  not ready, busy; the other signals are the last
//                                                  ones
//   dcmi.unknown-device                   event    of the machine: an event of an unknown device
//   dcmi.events-lost                      event    of the machine: too many events at a time
//   hccn.net-health                       state    its network port cannot reach its target
//   hccs.down                             state    of the chip: DCMI does not report single links
//   hccs.crc, hccs.retry                  counter  by port: the number of the PCS
#pragma once

#include <map>
#include <vector>

#include "common/domain/observation.hpp"
#include "node-agent/probes/ascend/ascend_generation.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_events.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

// In the order of the chips. HCCS is left out for generations for which DCMI's answer is not
// documented.
std::vector<domain::Signal> signals_of(const DcmiSnapshot& snapshot, AscendGeneration generation);

// chips: their indices by logic id.
std::vector<domain::Signal> signals_of(const DcmiEventBatch& batch,
                                       const std::map<int, int>& chips);

}  // namespace chipweave::agent
