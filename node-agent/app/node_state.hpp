// NodeState — what the agent knows of its node at one moment; immutable, shared by publisher and
// metrics.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/domain/condition.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/node_topology.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

struct NodeState {
  std::string machine;                     // what people call it: profile or model name
  std::vector<std::string> resources;      // extended resources the chips are counted as
  domain::NodeTopology topology;           // with today's health
  std::vector<domain::Fault> faults = {};  // worst first, then by chip, port and code
  std::vector<domain::Condition> conditions = {};
  std::vector<domain::Neighbour> neighbours = {};
  std::map<std::string, std::string> facts = {};  // of the probe: "driver" → "550.54.15"
};
using NodeStatePtr = std::shared_ptr<const NodeState>;

}  // namespace chipweave::agent
