// NodeMachine — the machine of one node as a plan needs it: wiring, adapters, and which chips are
// free.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
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
  ChipSet held = {};                // by the gang's running pods
  bool held_known = false;          // false: which ones they hold is not known, if any run there
  ChipSet loaded = {};              // chips of other jobs that communicate over the network
  std::vector<int> down_nics = {};  // positions in the topology's list, ascending
};

// Equal for nodes that give the same pods the same chips and rails. (machine, topology, free,
// held, loaded, down_nics)
using NodeState = std::tuple<const Machine*, const domain::NodeTopology*, std::uint64_t,
                             std::uint64_t, std::uint64_t, std::vector<int>>;
inline NodeState state_of(const NodeMachine& node) {
  return {node.machine.get(), node.topology.get(), node.free.bits(),
          node.held.bits(),   node.loaded.bits(),  node.down_nics};
}

using NodeMachines = std::unordered_map<FabricNodeId, NodeMachine>;

}  // namespace chipweave::solver
