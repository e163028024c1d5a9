// NodeState — what the agent knows of its node at one moment; immutable, shared by publisher and
// metrics.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

struct NodeState {
  std::string machine;                 // what people call it: profile or model name
  std::vector<std::string> resources;  // extended resources the chips are counted as
  domain::NodeTopology topology;       // with today's health
};
using NodeStatePtr = std::shared_ptr<const NodeState>;

}  // namespace chipweave::agent
