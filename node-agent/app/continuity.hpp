// Continuity — the same chips keep their indices, and a chip that is gone stays on the list.
//
// A driver numbers what answers: when chip 3 falls off the bus and the driver is started anew, chip
// 4 may become 3. Pods hold chips by these numbers, so within a run of the agent a chip keeps the
// index it had (it is known by its id, by its PCI address when it has lost that, by its index when
// it has lost both), and one that is not seen any more is still there, with the signal "chip.gone".
// A chip that was never seen makes another machine, which is taken as it is.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

// `seen` in the terms of `known`, the machine as it was last. Errors: what the builder refuses.
Result<domain::Observation> in_terms_of(const domain::NodeTopology& known,
                                        domain::Observation seen);

// Faults that an earlier run told of: those of chips that are here, by their indices now, and those
// of the machine.
std::vector<domain::Fault> in_terms_of(const domain::NodeTopology& now,
                                       const std::vector<domain::RememberedFault>& faults);

}  // namespace chipweave::agent
