// TriedDomains — what the nodes mean that kube-scheduler offers for a pod of one of its own gangs.
//
// It tries a PodGroup with a topology constraint in one domain after the other, and offers nodes of
// that domain only. A plan is made over all domains nevertheless, and its pods are refused in all
// but its own. Reference: Kubernetes 1.36 and 1.37, pkg/scheduler/schedule_one_podgroup.go and
// framework/plugins/topologyaware. Owner: the loop thread.
#pragma once

#include <optional>
#include <string>

#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/gang_table.hpp"
#include "scheduler-plugin/state/network/network.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class TriedDomains {
 public:
  TriedDomains(const NodeTable& nodes, const Network& network) : nodes_(nodes), network_(network) {}

  // Whether the gang is tried like that.
  static bool limit(const Gang& gang) {
    return gang.framework == "kubernetes" && !gang.spec.topology.required.empty();
  }
  // Whether the network has the levels that limit it.
  bool known(const Gang& gang) const { return !limit(gang) || level_of(gang).has_value(); }
  // Adds the nodes of all domains that none of these nodes is in. Cost: O(nodes). Precondition:
  // known(gang).
  void widen(const Gang& gang, NodeSet& offered) const;

 private:
  std::optional<int> level_of(const Gang& gang) const;
  // Names the node's domain of that level; the node's own name where it is in none.
  std::string domain_of(NodeId node, int level) const;

  const NodeTable& nodes_;
  const Network& network_;
};

}  // namespace chipweave::sched
