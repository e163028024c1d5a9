// ResourceFabric — the solver::Fabric of the nodes that offer one resource, kept in step with the
// node table; and what the fabric does not know of them: their leaf switches, and where pods are.
// Cost of a change: O(levels). Owner: Network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/rails/rail_leaves.hpp"
#include "scheduler-plugin/state/network/sources/network_source.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class ResourceFabric {
 public:
  ResourceFabric(std::string resource, std::size_t levels)
      : resource_(std::move(resource)), fabric_(levels) {}

  using Leaves = std::vector<std::string>;

  // The node as it is now; added if it offers the resource, removed if it does not. leaves: the
  // leaf switch of each of its NICs; empty: not known.
  void set(NodeId id, const Node& node, const NetworkPath& path, const Leaves& leaves);
  void remove(NodeId id);
  // Without nodes, on other levels.
  void reset(std::size_t levels);

  const std::string& resource() const { return resource_; }
  // Its number in the fabric; kNowhere: it is not in it.
  solver::FabricNodeId number_of(NodeId id) const {
    return id < numbers_.size() ? numbers_[id] : solver::kNowhere;
  }
  // The node with that number. Precondition: it is in use.
  NodeId node_of(solver::FabricNodeId number) const { return nodes_[number]; }
  // By number: equal for nodes with the same leaf for each NIC; kNoLeaves: not known. Empty: there
  // are fewer than two different sets.
  const solver::RailLeaves& leaves() const { return leaf_numbers_.size() < 2 ? none_ : leaves_; }
  // On how many levels above the node, from the finest up, its domain has no pods with chips.
  int whole_levels(solver::FabricNodeId number) const;
  solver::Fabric& fabric() { return fabric_; }
  const solver::Fabric& fabric() const { return fabric_; }

 private:
  void set_used(solver::FabricNodeId number, bool used);
  void set_leaves(solver::FabricNodeId number, const Leaves& leaves);

  std::string resource_;
  solver::Fabric fabric_;
  std::vector<solver::FabricNodeId> numbers_;  // by NodeId; kNowhere: not in it
  std::vector<NodeId> nodes_;                  // by number
  std::vector<bool> used_;                     // by number: whether pods hold chips there
  std::vector<std::uint32_t> used_in_;         // by domain: how many such nodes
  struct LeafSet {
    int number = 0;
    std::size_t nodes = 0;
  };
  std::map<Leaves, LeafSet> leaf_numbers_;
  int next_leaves_ = 0;
  solver::RailLeaves leaves_;             // by number
  std::vector<const Leaves*> leaves_of_;  // likewise; null: not known
  static inline const solver::RailLeaves none_{};
};

}  // namespace chipweave::sched
