// Applies the link health of an agent's delta report to the stored topology.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/model/inventory.hpp"

namespace chipweave::sched {

// The topology with exactly `lanes_down` lanes down on each named direct link; other links are
// unchanged. Errors: a pair without a direct link, more lanes down than there are.
Result<domain::NodeTopology> relink(const domain::NodeTopology& topology,
                                    const std::vector<LinkChange>& changes);

}  // namespace chipweave::sched
