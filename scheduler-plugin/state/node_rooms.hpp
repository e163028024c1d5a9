// NodeRooms — CPU and memory of the nodes: what each has for pods, and what the pods bound to it
// request. Tells the node table how much is free.
//
// In a cluster both come from the API server; kube-scheduler decides by the same figures. Also of
// nodes that the table does not know, which may get an inventory later. Owner: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/sharded_map.hpp"
#include "common/solver/nodes/demand.hpp"
#include "scheduler-plugin/model/node_use.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class NodeRooms {
 public:
  explicit NodeRooms(NodeTable& nodes) : nodes_(nodes) {}
  NodeRooms(const NodeRooms&) = delete;
  NodeRooms& operator=(const NodeRooms&) = delete;

  // Absent: it is not known any more.
  void set_allocatable(const std::string& node, const std::optional<NodeUse>& allocatable);
  // Pods on the node request so much more, or less.
  void add_use(const std::string& node, const NodeUse& change);
  // The table has a new node.
  void appeared(NodeId id);

  // The nodes with inventory as they are without pods, by kind, in the order of their first node.
  std::vector<solver::EmptyNodes> empty_nodes() const;
  // Rises when a node with inventory has other CPU or memory for pods.
  std::uint64_t version() const { return version_; }
  // What the pods bound to the node request.
  NodeUse used(const std::string& node) const {
    const Entry* known = entries_.find(node);
    return known == nullptr ? NodeUse() : known->used;
  }
  // What no pod requests of the node once pods with these requests are gone from it.
  solver::Room room_without(NodeId id, const NodeUse& gone) const;
  // Nodes of which anything is known.
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::optional<NodeUse> allocatable;
    NodeUse used;
  };
  Entry& entry(const std::string& node);
  void apply(NodeId id, const Entry& entry);
  void changed(const std::string& node, const Entry& entry);

  NodeTable& nodes_;
  ShardedMap<Entry> entries_;
  std::uint64_t version_ = 0;
};

}  // namespace chipweave::sched
