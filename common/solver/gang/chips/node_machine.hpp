// NodeMachine — the machine of one node as a plan needs it: wiring, adapters, and which chips are
// free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
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

// The machines of nodes, ascending by node. A plan walks over those of thousands of nodes, so they
// are one block. Cost: O(1) to add one behind all others, else O(nodes); O(log nodes) to find one.
class NodeMachines {
 public:
  using Entry = std::pair<FabricNodeId, NodeMachine>;
  using iterator = std::vector<Entry>::iterator;
  using const_iterator = std::vector<Entry>::const_iterator;

  void reserve(std::size_t nodes) { entries_.reserve(nodes); }
  // No effect if the node has one.
  void emplace(FabricNodeId node, NodeMachine machine) {
    if (entries_.empty() || entries_.back().first < node) {
      entries_.emplace_back(node, std::move(machine));
      return;
    }
    const auto at = place(node);
    if (at == entries_.end() || at->first != node) entries_.emplace(at, node, std::move(machine));
  }
  const_iterator find(FabricNodeId node) const {
    const auto at = place(node);
    return at == entries_.end() || at->first != node ? entries_.end() : at;
  }
  bool contains(FabricNodeId node) const { return find(node) != end(); }
  // Precondition: the node has one.
  const NodeMachine& at(FabricNodeId node) const { return find(node)->second; }
  NodeMachine& at(FabricNodeId node) {
    return entries_[static_cast<std::size_t>(find(node) - entries_.cbegin())].second;
  }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }

 private:
  const_iterator place(FabricNodeId node) const {
    return std::lower_bound(
        entries_.begin(), entries_.end(), node,
        [](const Entry& entry, FabricNodeId wanted) { return entry.first < wanted; });
  }

  std::vector<Entry> entries_;
};

}  // namespace chipweave::solver
