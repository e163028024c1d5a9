// Applies faults to the machine: chips and NICs that are out of use, lanes that are down.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

// `topology` with everything that the faults take out of use; nothing gets better. ports: where the
// lane of a port leads. A `link` effect without a port applies to all of the chip's links. A fault
// of the whole machine applies to every chip; one of a missing chip or part to none.
Result<domain::NodeTopology> with_effects(const domain::NodeTopology& topology,
                                          const std::vector<domain::Port>& ports,
                                          const std::vector<domain::Fault>& faults);

}  // namespace chipweave::agent
