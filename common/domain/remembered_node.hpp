// RememberedNode — what the agent's previous run reported about its node, as the API server has
// kept it: the memory of an agent that starts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/fault.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

struct RememberedNode {
  std::string machine = {};
  std::optional<NodeTopology> topology = {};  // with the health of then
  std::vector<RememberedFault> faults = {};
  std::map<std::string, std::string> facts = {};
  // Whether the node has not been rebooted since: a reboot ends what hardware was held for, but
  // neither what operators have ordered nor which chip has which index.
  bool same_boot = false;
};

}  // namespace chipweave::domain
