// EligibleNodes — where pods of gangs may run as far as the Node objects say: node selectors,
// required node affinity and taints. A plan needs to know it before a scheduler has filtered nodes.
// A node of which there is no Node object (standalone mode) takes all pods.
//
// Answers are kept until a Node changes: a gang's pods mostly say the same. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "common/domain/node_selection.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/node_standings.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

using SharedWishes = std::shared_ptr<const domain::NodeWishes>;  // a pod's; null: it has none

class EligibleNodes {
 public:
  EligibleNodes(const NodeTable& nodes, const NodeStandings& standings)
      : nodes_(nodes), standings_(standings) {}
  EligibleNodes(const EligibleNodes&) = delete;
  EligibleNodes& operator=(const EligibleNodes&) = delete;

  // Whether a pod with these wishes may be on the node, which is ready.
  bool may_run(const domain::NodeWishes* wishes, NodeId node) const;
  // All of them. Cost: O(nodes) for new wishes or after a change, else O(log kMaxKept). Valid until
  // the next call.
  const NodeSet& of(const SharedWishes& wishes);

 private:
  static constexpr std::size_t kMaxKept = 64;
  struct Kept {
    SharedWishes wishes;  // keeps the key's address in use
    NodeSet nodes;
  };

  const NodeTable& nodes_;
  const NodeStandings& standings_;
  std::map<const domain::NodeWishes*, Kept> kept_;
  std::uint64_t standings_version_ = 0;
  std::uint64_t names_version_ = 0;
};

}  // namespace chipweave::sched
