// Conditions of a node, as Kubernetes has them: whether all chips, links and networks are usable,
// and whether the hardware can be read.
#pragma once

#include <cstdint>
#include <vector>

#include "common/domain/condition.hpp"
#include "common/domain/fault.hpp"

namespace chipweave::agent {

// Whether the fault is about reading the hardware, not about the hardware itself.
bool is_of_probe(const domain::Fault& fault);

// ChipsHealthy, LinksHealthy, NetworkHealthy, ProbeWorking. `before`: the previous conditions,
// whose transition times are kept where the status is the same; now: Unix time in ms.
std::vector<domain::Condition> conditions_of(const std::vector<domain::Fault>& faults,
                                             const std::vector<domain::Condition>& before,
                                             std::int64_t now);

}  // namespace chipweave::agent
