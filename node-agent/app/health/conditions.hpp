// The conditions of a node that its faults make: whether all chips, links and networks are well,
// and whether the hardware answers.
#pragma once

#include <cstdint>
#include <vector>

#include "common/domain/condition.hpp"
#include "common/domain/fault.hpp"

namespace chipweave::agent {

// ChipsHealthy, LinksHealthy, NetworkHealthy, ProbeWorking. `before`: as they were, whose times are
// kept for answers that are the same; now: Unix time in ms.
std::vector<domain::Condition> conditions_of(const std::vector<domain::Fault>& faults,
                                             const std::vector<domain::Condition>& before,
                                             std::int64_t now);

}  // namespace chipweave::agent
