// Reservations — the chips of pods between their evaluation and their binding: of single pods, of
// groups, and of kube-scheduler's own gangs.
//
// A reservation ends with bind, the pod's next filter, its deletion or its time to live.
// kube-scheduler may still bind elsewhere; the best set of that node is then taken. Owner: the loop
// thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/evaluator.hpp"
#include "scheduler-plugin/app/groups.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/app/speculative_reservations.hpp"
#include "scheduler-plugin/state/scheduler_state.hpp"

namespace chipweave::sched {

// What an evaluation may change: nothing; reservations, since a binding is likely to follow; or the
// reservations of a session.
enum class Purpose { what_if, to_bind, in_session };

class Reservations : public UseCase {
 public:
  Reservations(Core& core, const Evaluator& evaluator, std::chrono::milliseconds ttl)
      : UseCase(core), evaluator_(evaluator), speculative_(core.state.ledger), ttl_(ttl) {}

  // The cluster's pod if it is pending with this uid, else null; only such pods may reserve chips.
  const ClusterPod* pending(const PodRequest& pod) const;
  // The fixed holding of a pod that is to be evaluated: of its binding in flight, or its part of a
  // group. Ends its own earlier reservation.
  const Holding* part_of(Verb verb, const PodRequest& pod, Purpose purpose);
  // Ends the reservations of kube-scheduler's gangs other than the pod's. True if that freed chips.
  bool end_other_speculation(const PodRequest& pod);
  // Reserves what the answer names. Preconditions: the pod is pending; the chips are free.
  void hold(Verb verb, const PodRequest& pod, NodeId node, const Answer& answer);
  // Reserves chips for the pod on this node. Keeps an existing reservation there if its chips are
  // healthy. Errors: conflict: it does not fit.
  Result<void> take(const PodRequest& pod, NodeId node);
  // The pod's reservation, or its group's, lasts as long as a new one.
  void renew(const Holding& reservation);
  std::chrono::milliseconds ttl() const { return ttl_; }

  // Ends the reservation of a pod, if it has one. A part of a group goes back to the group.
  void withdraw(std::string_view uid);
  // Ends every reservation that has one of these chips.
  void give_way(NodeId node, ChipSet chips);
  // Ends those whose lifetime is over.
  void expire();
  void end_all();
  // The agent reports other chips than before: holdings follow their chips, reservations that lost
  // one end, and evaluations of the old slots can no longer be explained.
  void rebase(NodeId node, const std::vector<int>& old_indices);

 private:
  static bool is_speculative(Verb verb, const PodRequest& pod);
  void end(Clock::Steady due, ReservationEvent result);

  const Evaluator& evaluator_;
  SpeculativeReservations speculative_;
  std::chrono::milliseconds ttl_;
};

}  // namespace chipweave::sched
