// Changing chips of an immutable machine: everything else stays as it is.
#pragma once

#include <functional>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// `topology` with `edit` applied to each chip. edit must leave the index alone; what the builder
// refuses is an error.
Result<domain::NodeTopology> with_chips(const domain::NodeTopology& topology,
                                        const std::function<void(domain::Chip&)>& edit);

}  // namespace chipweave::agent
