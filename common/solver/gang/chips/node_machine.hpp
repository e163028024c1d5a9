// NodeMachine — the machine of one node as a plan needs it: wiring, adapters, and which chips are
// free.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "common/domain/node_topology.hpp"
#include "common/solver/chips/machine.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

struct NodeMachine {
  std::shared_ptr<Machine> machine;                      // shared by nodes with the same wiring
  std::shared_ptr<const domain::NodeTopology> topology;  // the node's own, with its NICs
  ChipSet free;
  ChipSet loaded = {};              // chips of other jobs that communicate over the network
  std::vector<int> down_nics = {};  // positions in the topology's list, ascending
};
using NodeMachines = std::unordered_map<FabricNodeId, NodeMachine>;

}  // namespace chipweave::solver
