// Whether the pods of a job may have so many chips each on a machine, by the vendor's rules for
// jobs of one pod and of several (docs/concepts/chip-selection.md).
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

// More than one pod with chips makes the job distributed, which forbids some sizes (Ascend A3: odd
// ones). Errors: invalid_argument, with the pod as context. Cost: O(pods + chips^2).
Result<void> check_pod_chips(const domain::NodeTopology& machine,
                             const std::vector<int>& pod_chips);

}  // namespace chipweave::solver
