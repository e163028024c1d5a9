// NodeState — what the agent knows about its node at one moment; immutable, shared by publishers
// and metrics.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/carried.hpp"
#include "common/domain/condition.hpp"
#include "common/domain/enforcement.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/given_chips.hpp"
#include "common/domain/node_topology.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

struct NodeState {
  std::string machine;                     // display name: profile or model
  std::vector<std::string> resources;      // extended resources the chips are counted as
  domain::NodeTopology topology;           // with current health
  std::vector<domain::Fault> faults = {};  // worst first, then by chip, port and code
  std::vector<domain::Condition> conditions = {};
  std::vector<domain::Neighbour> neighbours = {};
  std::map<std::string, std::string> facts = {};  // from the probe: "driver" → "550.54.15"
  domain::CarriedPeaks carried = {};
  std::optional<domain::GivenChips> given = {};  // nullopt: the kubelet is not asked
  domain::Enforcement enforcement = domain::Enforcement::none;
  bool gate_open = false;  // of the device plugin; only with Enforcement::device_plugin
};
using NodeStatePtr = std::shared_ptr<const NodeState>;

}  // namespace chipweave::agent
