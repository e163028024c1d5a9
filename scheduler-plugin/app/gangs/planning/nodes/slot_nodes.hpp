// SlotNodes — which nodes each of the pods of one plan may have (EligibleNodes).
//
// The pods of a gang mostly say the same about nodes. Where they differ (roles with node selectors
// of their own, pods that are pinned), there is a set of nodes for each kind of pods.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/nodes/eligible_nodes.hpp"

namespace chipweave::sched {

class SlotNodes {
 public:
  // How many different wishes count, and how many that name their nodes. Pods with others count as
  // if they had none; it is up to their scheduler then.
  static constexpr std::size_t kMaxDifferent = 8;
  static constexpr std::size_t kMaxNamed = 1024;

  // pods: the wishes of the pods to place, in their order. Cost: O(pods x kMaxDifferent), and
  // O(nodes) for each that differs.
  SlotNodes(EligibleNodes& eligible, std::span<const SharedWishes> pods);

  // Whether all pods may have the same nodes.
  bool alike() const { return sets_.size() <= 1; }
  // Whether any pod may be there / all of them may.
  bool any(NodeId node) const { return any_[node]; }
  bool all(NodeId node) const;
  // Equal for pods that may have the same nodes. pod: its position.
  std::size_t kind(std::size_t pod) const { return kind_of_[pod]; }
  // The nodes of a kind; null: all that any pod may have.
  const NodeSet* nodes_of(std::size_t kind) const { return all_[kind] ? nullptr : &sets_[kind]; }
  std::size_t kinds() const { return sets_.size(); }

 private:
  std::vector<NodeSet> sets_;  // by kind
  std::vector<std::size_t> kind_of_;
  NodeSet any_;
  std::vector<bool> all_;  // by kind: whether it may have all that any may
};

}  // namespace chipweave::sched
