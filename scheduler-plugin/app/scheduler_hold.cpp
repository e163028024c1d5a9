// Reservations between prioritize and bind, of single pods and of groups.
#include <utility>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

// The cluster's pod if it is pending with this uid, else null; only such pods may reserve chips.
const ClusterPod* Scheduler::pending(const PodRequest& pod) const {
  if (pod.uid.empty()) return nullptr;
  const ClusterPod* held = cluster_.find(pod.key);
  const bool waits = held != nullptr && held->request.uid == pod.uid && held->node.empty() &&
                     held->refused.empty();
  return waits ? held : nullptr;
}

// Whether kube-scheduler is evaluating a whole gang, whose outcome it does not report.
bool Scheduler::is_speculative(Verb verb, const PodRequest& pod) {
  const bool question = verb == Verb::filter || verb == Verb::prioritize;
  return question && !pod.gang.empty() && !is_member(pod);
}

// True if that freed chips.
bool Scheduler::end_other_speculation(const PodRequest& pod) {
  const std::size_t before = ledger_.reserved();
  for (const std::string& uid : speculative_.end_others(pod.gang)) withdraw(uid);
  return ledger_.reserved() < before;
}

void Scheduler::hold_reservation(Verb verb, const PodRequest& pod, NodeId node,
                                 const Answer& answer) {
  const bool speculative =
      is_speculative(verb, pod) && SpeculativeReservations::kLifetime < options_.reservation_ttl;
  const auto expires =
      clock_.now() + (speculative ? SpeculativeReservations::kLifetime : options_.reservation_ttl);
  if (is_member(pod)) {
    groups_.hold(pod, node, answer.parts,
                 {answer.request, answer.verdict.gbps, answer.verdict.best_gbps}, expires);
    return;
  }
  withdraw(pod.uid);
  Holding holding;
  holding.uid = pod.uid;
  holding.key = pod.key;
  holding.node = node;
  holding.chips = answer.chips;
  holding.expires = expires;
  holding.job = job_identity(pod);
  if (ledger_.hold(std::move(holding)).ok()) observer_.reservation(ReservationEvent::held);
}

// Ends the reservation of a pod, if it has one. A part of a group goes back to the group.
void Scheduler::withdraw(std::string_view uid) {
  const Holding* holding = ledger_.find(uid);
  if (holding == nullptr || holding->bound) return;
  if (!holding->group.empty()) {
    groups_.leave(*holding);
    return;
  }
  ledger_.drop(uid);
  ++freed_;
  observer_.reservation(ReservationEvent::dropped);
}

void Scheduler::expire_reservations() {
  speculative_.prolong(clock_.now());
  end_reservations(clock_.now(), ReservationEvent::expired);
}

void Scheduler::end_reservations(Clock::Steady due, ReservationEvent result) {
  const std::vector<Holding> expired = ledger_.expire(due);
  freed_ += expired.size();
  for (const Holding& gone : expired) {
    observer_.reservation(result);
    if (!gone.group.empty()) groups_.forget(gone);
  }
  // a group ends as one; only after every expired part is forgotten do group and ledger agree
  // again
  for (const Holding& gone : expired) {
    if (!gone.group.empty()) groups_.dissolve(gone.group);
  }
}

// The agent reports other chips than before: holdings follow their chips, reservations that lost
// one end, and evaluations of the old slots can no longer be explained.
void Scheduler::rebase(NodeId node, const std::vector<int>& old_indices) {
  for (const std::string& uid : ledger_.rebase(node, old_indices)) {
    const Holding* broken = ledger_.find(uid);
    if (broken == nullptr) continue;  // its group was dissolved
    if (!broken->group.empty()) {
      groups_.dissolve(std::string(broken->group));
    } else {
      withdraw(uid);
    }
  }
  groups_.forget_requests(node);
  for (const PodState state :
       {PodState::pending, PodState::reserved, PodState::binding, PodState::uncertain}) {
    for (PodRecord* record : records_.in(state)) {
      LastEvaluation* last = record->evaluation.get();
      if (last != nullptr && last->node == node) last->request.reset();
    }
  }
  for (const Holding* held : ledger_.on(node)) {
    PodRecord* record = records_.find(held->uid);
    if (record == nullptr) continue;
    if (record->decision != nullptr) record->decision->request.reset();
    if (record->in_flight != nullptr) record->in_flight->decision.request.reset();
  }
}

// Whether all chips of the holding are present and healthy.
bool Scheduler::usable(const Holding& holding, const PodRequest& pod, bool distributed) const {
  const Node& node = nodes_.node(holding.node);
  const ChipSet unusable = distributed ? node.unhealthy | node.network_unhealthy : node.unhealthy;
  return holding.chips.size() == pod.chips && !holding.chips.intersects(unusable);
}

}  // namespace chipweave::sched
