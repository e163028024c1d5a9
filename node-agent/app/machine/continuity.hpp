// Continuity — chips keep their indices while the agent runs, and a missing chip stays listed.
//
// Drivers number only the devices that respond: if chip 3 falls off the bus and the driver
// restarts, chip 4 may become 3. Pods hold chips by these numbers, so a chip keeps its first index.
// It is matched by its id; without one, by its PCI address; without either, by its index. A chip
// that is no longer reported stays, with the signal "chip.gone". A chip that was never seen before
// means another machine, whose indices are used as reported.
#pragma once

#include <map>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

inline constexpr const char* kChipGone = "chip.gone";

// Today's indices of the driver, and the chips' own. Empty: they are the same.
using ChipNumbers = std::map<domain::ChipIndex, domain::ChipIndex>;

struct KnownMachine {
  domain::Observation observation;
  ChipNumbers numbers;
};

// `seen` with the chip indices of `known`, the last machine. Errors: a topology that the builder
// refuses.
Result<KnownMachine> in_terms_of(const domain::NodeTopology& known, domain::Observation seen);

// Events that came after the observation that had `numbers`, with the chips' own indices: by PCI
// address, else by the driver's index. One of a chip that the machine does not have concerns the
// whole machine: which chip it is about is unknown.
void name_chips(const domain::NodeTopology& known, const ChipNumbers& numbers,
                std::vector<domain::Signal>& events);

// Faults that a previous run reported, with today's indices: those of present chips and of the
// machine.
std::vector<domain::Fault> in_terms_of(const domain::NodeTopology& now,
                                       const std::vector<domain::RememberedFault>& faults);

}  // namespace chipweave::agent
