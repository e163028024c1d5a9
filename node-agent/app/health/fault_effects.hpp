// What faults mean to the machine: chips and NICs that are out of use, lanes that are down.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

// `topology` with everything that the faults take out of use; it only ever gets worse. ports: where
// a lane leads that a fault names; a fault of links that names a chip alone is of all its links. A
// fault of the machine as a whole counts for each chip; one of a
// chip or part that is not there for none.
Result<domain::NodeTopology> with_effects(const domain::NodeTopology& topology,
                                          const std::vector<domain::Port>& ports,
                                          const std::vector<domain::Fault>& faults);

}  // namespace chipweave::agent
