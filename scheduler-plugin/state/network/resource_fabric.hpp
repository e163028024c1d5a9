// ResourceFabric — the solver::Fabric of the nodes that offer one resource, kept in step with the
// node table. Owner: Network.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "scheduler-plugin/state/network/sources/network_source.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class ResourceFabric {
 public:
  ResourceFabric(std::string resource, std::size_t levels)
      : resource_(std::move(resource)), fabric_(levels) {}

  // The node as it is now; added if it offers the resource, removed if it does not.
  void set(NodeId id, const Node& node, const NetworkPath& path);
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
  solver::Fabric& fabric() { return fabric_; }
  const solver::Fabric& fabric() const { return fabric_; }

 private:
  std::string resource_;
  solver::Fabric fabric_;
  std::vector<solver::FabricNodeId> numbers_;  // by NodeId; kNowhere: not in it
  std::vector<NodeId> nodes_;                  // by number
};

}  // namespace chipweave::sched
