// OfferedNodes — what the nodes mean that kube-scheduler offers for a pod of a gang: where its pods
// may be as far as kube-scheduler is concerned.
//
// With percentageOfNodesToScore below 100, it offers some of 100 nodes and more that it could use,
// and others the next time. A PodGroup with a topology constraint it tries in one domain after the
// other, and offers nodes of that domain only. A plan is made over all domains nevertheless, and
// its pods are refused in all but its own. Reference: Kubernetes 1.36 and 1.37,
// pkg/scheduler/schedule_one_podgroup.go and framework/plugins/topologyaware. Owner: the loop
// thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/gang_table.hpp"
#include "scheduler-plugin/state/network/network.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class OfferedNodes {
 public:
  OfferedNodes(const NodeTable& nodes, const Network& network) : nodes_(nodes), network_(network) {}

  // Whether the gang is tried in one domain after the other.
  static bool by_domain(const Gang& gang);
  // Whether the network has the levels of these domains.
  bool known(const Gang& gang) const { return !by_domain(gang) || level_of(gang).has_value(); }
  // These nodes, and those of all domains that are not tried now. Cost: O(nodes). Precondition:
  // known(gang).
  NodeSet of(const Gang& gang, std::span<const std::string_view> nodes);
  // Whether these are nodes of another domain than the node's, so that its domain is not tried now.
  // Cost: O(levels). Precondition: known(gang).
  bool are_elsewhere(const Gang& gang, NodeId node, std::span<const std::string_view> nodes) const;
  // Whether it may be a part of what could be used.
  bool is_sample(const NodeSet& offered) const;

 private:
  void widen(const Gang& gang, NodeSet& offered) const;
  std::optional<int> level_of(const Gang& gang) const;
  // Names the node's domain of that level; the node's own name where it is in none.
  std::string domain_of(NodeId node, int level) const;

  const NodeTable& nodes_;
  const Network& network_;
  std::vector<NodeId> found_;
};

}  // namespace chipweave::sched
