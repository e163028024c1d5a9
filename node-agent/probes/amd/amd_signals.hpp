// What the devices of an AMD machine say of its chips, as signals, ports and facts.
//
//   counter  ras.<block>.ue, .ce, .de   uncorrected, corrected, deferred errors
//   state    amd.hung                   the driver resets the chip, or is starting it
//   event    amd.reset                  it has done so
//   state    amd.thermal                a sensor is at its critical temperature
//   reading  amd.temperature            degrees Celsius, of the hottest sensor
//   event    amd.xgmi-error             XGMI errors since the observation before
//   state    amd.gone                   seen before, and no longer in KFD or on the PCI bus
//
// Partitions share the package's counters and sensors: each of them says the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/domain/observation.hpp"
#include "node-agent/probes/amd/amd_device.hpp"
#include "node-agent/probes/amd/amd_machine.hpp"

namespace chipweave::agent {

// devices: by PCI address. gone: slots of the machine, about which nothing else is said. reset:
// slots of chips that have come through a reset.
void add_amd_signals(const AmdMachine& machine, const std::map<std::string, AmdDevice>& devices,
                     const std::vector<int>& gone, const std::vector<int>& reset,
                     domain::Observation& observation);

// Lanes of XGMI links that the observation's topology has, where the driver tells them apart; none
// of chips in partitions. The driver does not say whether a lane is up.
void add_xgmi_ports(const AmdMachine& machine, const std::map<std::string, AmdDevice>& devices,
                    domain::Observation& observation);

// "gfx", "compute-partition" and "memory-partition" ("mixed" where chips differ), and
// "render.<chip>" → "renderD128".
void add_amd_facts(const AmdMachine& machine, const std::map<std::string, AmdDevice>& devices,
                   domain::Observation& observation);

}  // namespace chipweave::agent
