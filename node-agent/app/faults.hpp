// Laying known faults over a machine as its source describes it.
#pragma once

#include "common/base/result.hpp"
#include "common/domain/faults.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// Faults only ever worsen: a chip that the source calls unhealthy stays so, lanes go down besides
// those that are. invalid_argument naming a chip the machine does not have, or a pair without a
// direct link.
Result<domain::NodeTopology> with_faults(const domain::NodeTopology& topology,
                                         const domain::Faults& faults);

}  // namespace chipweave::agent
