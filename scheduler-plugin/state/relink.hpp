// A machine with other link health: what a delta report of an agent makes of the topology that is held.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/app/model.hpp"

namespace chipweave::sched {

// The topology with each named direct link at exactly `lanes_down` lanes down; other links stay as they are.
// Errors: a pair without a direct link, more lanes down than there are.
Result<domain::NodeTopology> relink(const domain::NodeTopology& topology,
                                    const std::vector<LinkChange>& changes);

}  // namespace chipweave::sched
