// Small machines for the agent's tests.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/declared_faults.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

// Four NVIDIA chips in a ring of two-lane links.
domain::NodeTopology ring_of_four(const std::string& vendor = "nvidia");

// NVIDIA chips of these ids, each linked to the next one by two lanes.
domain::NodeTopology row_of(const std::vector<std::string>& ids);

// The machine with only these faults.
Result<domain::NodeTopology> with_faults(const domain::NodeTopology& topology,
                                         const domain::DeclaredFaults& listed);

NodeStatePtr state_of(domain::NodeTopology topology);

}  // namespace chipweave::agent
