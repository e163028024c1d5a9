// Reservations — the chips of pods between their evaluation and their binding: of single pods, of
// groups, and of kube-scheduler's own gangs. Those of planned gangs belong to GangPlans, and only
// end here with their chips or when the pod is bound elsewhere.
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
#include "scheduler-plugin/app/use_case.hpp"
#include "scheduler-plugin/state/scheduler_state.hpp"

namespace chipweave::sched {

// What an evaluation may change: nothing; reservations, since a binding is likely to follow; or the
// reservations of a session.
enum class Purpose { what_if, to_bind, in_session };

class Reservations : public UseCase {
 public:
  Reservations(Core& core, const Evaluator& evaluator, std::chrono::milliseconds ttl)
      : UseCase(core), evaluator_(evaluator), speculative_(core.state.ledger, ttl), ttl_(ttl) {}

  // The cluster's pod if it is pending with this uid, else null; only such pods may reserve chips.
  const ClusterPod* pending(const PodRequest& pod) const;
  // A pod is to be evaluated so that it is bound: ends what is reserved by attempts of
  // kube-scheduler's gangs of which this shows that they have failed.
  void begin(Verb verb, const PodRequest& pod);
  // The fixed holding of a pod that is to be evaluated: of its binding in flight, or its part of a
  // group or plan. Ends its own earlier reservation.
  const Holding* part_of(const PodRequest& pod, Purpose purpose);
  // The pod fits nowhere. Ends unpromising reservations of kube-scheduler's other gangs. True if
  // that freed chips.
  bool end_unpromising_speculation(const PodRequest& pod);
  // The pod fits nowhere nevertheless, so the attempt of its gang fails, unless the gang has a
  // plan: then as many as must start have places, be it in another domain than the one that is
  // tried.
  void fits_nowhere(Verb verb, const PodRequest& pod);
  // kube-scheduler has chosen the node, and prepares it for the pod. If the pod has its reservation
  // there, it is being bound.
  void nominated(const ClusterPod& pod);
  // kube-scheduler reports that it cannot place the pod.
  void unschedulable(const PodRequest& pod);
  // Reserves what the answer names. Preconditions: the pod is pending; the chips are free.
  void hold(const PodRequest& pod, NodeId node, const Answer& answer);
  // Reserves chips for a pod that will get these and more there. Preconditions: as above, and it
  // holds nothing.
  void hold_nominated(const PodRequest& pod, NodeId node, ChipSet chips, Clock::Steady expires);
  // Reserves chips for the pod on this node. Keeps an existing reservation there if its chips are
  // healthy. Errors: conflict: it does not fit.
  Result<void> take(const PodRequest& pod, NodeId node);
  // The pod's reservation, or its group's, lasts as long as a new one.
  void renew(const Holding& reservation);
  std::chrono::milliseconds ttl() const { return ttl_; }

  // Ends the reservation of a pod, if it has one. A part of a group goes back to the group; what
  // the plan of a gang reserves stays.
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
  void hold_single(const PodRequest& pod, Holding holding);
  void end_reservation(const std::string& uid);
  // Of an attempt that has failed: the plan of its gang ends, too.
  void end_attempt(const std::vector<std::string>& uids);
  void end(Clock::Steady due, ReservationEvent result);

  const Evaluator& evaluator_;
  SpeculativeReservations speculative_;
  std::chrono::milliseconds ttl_;
};

}  // namespace chipweave::sched
