// BoundPods — which chips belong to pods that others bound, or that were bound before a restart.
//
// The cluster is the source of truth. A pod with a placement gets exactly those chips; conflicting
// reservations are dropped and guesses revised. If a pod has no placement, or claims a chip of
// another pod, only the number of its chips is certain. It is then assumed to hold the claimed
// chips that no other pod is known to have and, for the rest, those that a device plugin would most
// likely have picked, so that neither free chips nor bandwidth are overestimated
// (Holding::assumed). Owner: the loop thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/decisions.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/app/reservations.hpp"
#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

class BoundPods : public UseCase {
 public:
  BoundPods(Core& core, Reservations& reservations, Decisions& decisions)
      : UseCase(core), reservations_(reservations), decisions_(decisions) {}

  // The pod is bound to the node; claimed: its placement, null if there is none. Precondition: it
  // holds nothing.
  void found(const ClusterPod& pod, NodeId node, const Placement* claimed);
  // Whether the pod's placement matches its holding. It does not if our binding was changed in
  // transit, for example by the next leader's webhook.
  bool matches(const Holding& held, const Placement& claimed) const;
  // The pod is gone: its chips are free. Returns the node where that may help others.
  std::optional<NodeId> gone(std::string_view uid);
  // Chips of the node came free: claims that are no longer contested are honoured, and every
  // assumed holding gets chips as far as there are any: free ones first, then reserved ones.
  void settle(NodeId node);
  // The machine of restored decisions is known now.
  void complete_recalled(NodeId node);
  // Reports disputes that last.
  void publish_disputes();

 private:
  void assume(const ClusterPod& pod, const Placement* claimed);
  Holding holding_of(const ClusterPod& pod, NodeId node) const;
  std::vector<int> contested(const Placement& claimed, NodeId node) const;
  void end_disputes(NodeId node);
  void keep_claims(NodeId node);
  void hold_known(const Placement& claimed, Holding holding);
  void give_way(NodeId node, ChipSet chips);
  ChipSet guess(NodeId node, int count) const;
  void recall(const ClusterPod& pod, const Placement& claimed);

  Reservations& reservations_;
  Decisions& decisions_;
};

}  // namespace chipweave::sched
