// Small machines for the agent's tests.
#pragma once

#include <string>

#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

// Four NVIDIA chips in a ring of two-lane links.
domain::NodeTopology ring_of_four(const std::string& vendor = "nvidia");

NodeStatePtr state_of(domain::NodeTopology topology);

}  // namespace chipweave::agent
