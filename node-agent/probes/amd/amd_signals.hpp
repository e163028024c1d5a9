// What the devices of an AMD machine report, as signals, ports and facts of its chips.
//
//   counter  ras.<block>.ue, .ce, .de   uncorrected, corrected, deferred errors
//   state    amd.hung                   the driver is resetting or starting the chip
//   event    amd.reset                  the chip has come back from a reset
//   state    amd.thermal                a sensor is at its critical temperature
//   reading  amd.temperature            degrees Celsius, of the hottest sensor
//   event    amd.xgmi-error             XGMI errors since the previous observation
//   state    amd.gone                   seen before, and no longer in KFD or on the PCI bus
//
// Partitions share the counters and sensors of their package, so each of them reports the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/domain/observation.hpp"
#include "node-agent/probes/amd/amd_device.hpp"
#include "node-agent/probes/amd/amd_machine.hpp"

namespace chipweave::agent {

// devices: by PCI address. gone: slots of missing chips, which get no other signal. reset: slots of
// chips that have come back from a reset.
void add_amd_signals(const AmdMachine& machine, const std::map<std::string, AmdDevice>& devices,
                     const std::vector<int>& gone, const std::vector<int>& reset,
                     domain::Observation& observation);

// Adds the lanes of XGMI links as ports, where the driver reports them; none for chips in
// partitions. The driver does not report whether a lane is up.
void add_xgmi_ports(const AmdMachine& machine, const std::map<std::string, AmdDevice>& devices,
                    domain::Observation& observation);

// "gfx", "compute-partition" and "memory-partition" ("mixed" where chips differ), and
// "render.<chip>" → "renderD128".
void add_amd_facts(const AmdMachine& machine, const std::map<std::string, AmdDevice>& devices,
                   domain::Observation& observation);

}  // namespace chipweave::agent
