#include "scheduler-plugin/app/reservations.hpp"

#include <utility>

namespace chipweave::sched {

const ClusterPod* Reservations::pending(const PodRequest& pod) const {
  if (pod.uid.empty()) return nullptr;
  const ClusterPod* held = cluster_.find(pod.key);
  const bool waits = held != nullptr && held->request.uid == pod.uid && held->node.empty() &&
                     held->refused.empty();
  return waits ? held : nullptr;
}

void Reservations::begin(Verb verb, const PodRequest& pod) {
  end_attempt(speculative_.end_failed(pod.gang));
  if (!is_speculative(verb, pod)) return;
  // the next attempt goes on with the same plan
  for (const std::string& uid : speculative_.evaluated(verb, pod.gang, pod.uid, clock_.now()))
    withdraw(uid);
}

const Holding* Reservations::part_of(const PodRequest& pod, Purpose purpose) {
  const Holding* own = ledger_.find(pod.uid);
  if (records_.being_bound(pod.uid) != nullptr || (own != nullptr && own->planned)) return own;
  if (purpose == Purpose::in_session) {
    withdraw(pod.uid);
    return is_member(pod) ? groups_.part_for(pod) : nullptr;
  }
  const Holding* part = is_member(pod) ? groups_.claim(pod) : nullptr;
  if (part == nullptr) withdraw(pod.uid);
  return part;
}

// Whether kube-scheduler is evaluating a whole gang, whose outcome it does not report.
bool Reservations::is_speculative(Verb verb, const PodRequest& pod) {
  const bool question = verb == Verb::filter || verb == Verb::prioritize;
  return question && !pod.gang.empty() && !is_member(pod);
}

bool Reservations::end_unpromising_speculation(const PodRequest& pod) {
  const std::size_t before = ledger_.reserved();
  end_attempt(speculative_.end_unpromising(pod.gang));
  return ledger_.reserved() < before;
}

void Reservations::fits_nowhere(Verb verb, const PodRequest& pod) {
  const Gang* gang = state_.gangs.of(pod.uid);
  const bool planned = gang != nullptr && plans_.find(gang->id) != nullptr;
  if (is_speculative(verb, pod) && !planned) speculative_.fits_nowhere(pod.gang, pod.uid);
}

void Reservations::nominated(const ClusterPod& pod) {
  const Holding* held = ledger_.find(pod.request.uid);
  if (held == nullptr || held->bound || held->nominated ||
      nodes_.node(held->node).name != pod.nominated)
    return;
  // pods of a plan are nominated by us, before a scheduler tries them
  if (!pod.request.gang.empty() && !held->planned) speculative_.being_bound(pod.request.gang);
  renew(*held);
}

void Reservations::unschedulable(const PodRequest& pod) {
  if (!pod.gang.empty()) speculative_.unschedulable(pod.gang, pod.uid);
}

void Reservations::hold(const PodRequest& pod, NodeId node, const Answer& answer) {
  const auto expires = clock_.now() + ttl_;
  if (is_member(pod)) {
    groups_.hold(pod, node, answer.parts,
                 {answer.request, answer.verdict.offer.gbps, answer.verdict.best_gbps}, expires);
    return;
  }
  withdraw(pod.uid);
  Holding holding;
  holding.node = node;
  holding.chips = answer.chips;
  holding.expires = expires;
  hold_single(pod, std::move(holding));
}

void Reservations::hold_nominated(const PodRequest& pod, NodeId node, ChipSet chips,
                                  Clock::Steady expires) {
  Holding holding;
  holding.node = node;
  holding.chips = chips;
  holding.expires = expires;
  holding.nominated = true;
  hold_single(pod, std::move(holding));
}

void Reservations::hold_single(const PodRequest& pod, Holding holding) {
  holding.uid = pod.uid;
  holding.key = pod.key;
  holding.job = job_identity(pod);
  if (ledger_.hold(std::move(holding)).ok()) observer_.on(ReservationEvent::held);
}

Result<void> Reservations::take(const PodRequest& pod, NodeId node) {
  // What is reserved there stays: the gate is closed for seconds, and the binding is tried again.
  if (nodes_.node(node).closed()) {
    return make_error(Errc::conflict, "pod " + pod.key.text() + " cannot be bound to node " +
                                          nodes_.node(node).name + " now: " + node_closed().reason);
  }
  const Holding* held = is_member(pod) ? groups_.claim(pod) : ledger_.find(pod.uid);
  if (held != nullptr && held->node == node && !nodes_.node(node).stale &&
      evaluator_.usable(*held, pod, contexts_.of(pod, held).distributed)) {
    return {};
  }
  if (held != nullptr && !held->group.empty()) {
    groups_.dissolve(std::string(held->group));
  } else if (held != nullptr && held->planned) {
    plans_.lose(pod.uid);
  } else {
    withdraw(pod.uid);
  }
  // kube-scheduler chose another node, or the reservation has expired
  const RequestContext context = contexts_.of(pod, nullptr);
  Answer taken = evaluator_.answer(context, node);
  if (!taken.verdict.fits()) {
    return make_error(Errc::conflict, "pod " + pod.key.text() + " no longer fits on node " +
                                          nodes_.node(node).name + ": " + taken.verdict.reason);
  }
  auto& evaluation = records_.find(pod.uid)->evaluation;
  if (evaluation == nullptr) evaluation = std::make_unique<LastEvaluation>();
  evaluation->node = node;
  evaluation->life = nodes_.node(node).life;
  evaluation->request = taken.request;
  evaluation->gbps = taken.verdict.offer.gbps;
  evaluation->best_gbps = taken.verdict.best_gbps;
  evaluation->others.clear();
  hold(pod, node, taken);
  held = ledger_.find(pod.uid);
  if (held == nullptr) return make_error(Errc::internal, "the chips could not be held");
  return {};
}

void Reservations::withdraw(std::string_view uid) {
  const Holding* holding = ledger_.find(uid);
  if (holding == nullptr || holding->bound || plans_.keep(*holding)) return;
  if (!holding->group.empty()) {
    // the next member could not use chips that the node no longer has
    if (holding->unreported.empty()) {
      groups_.leave(*holding);
    } else {
      groups_.dissolve(std::string(holding->group));
    }
    return;
  }
  // what is kept for a nominated pod is kept again unless its nomination ends
  if (!holding->nominated) ++state_.freed;
  ledger_.drop(uid);
  observer_.on(ReservationEvent::dropped);
}

// Also one of a plan, and if it is a spare part.
void Reservations::end_reservation(const std::string& uid) {
  const Holding* held = ledger_.find(uid);
  if (held == nullptr || !held->planned) return withdraw(uid);
  ledger_.drop(uid);
  observer_.on(ReservationEvent::dropped);
}

void Reservations::end_attempt(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) {
    withdraw(uid);
    const Holding* held = ledger_.find(uid);
    if (held == nullptr || held->bound || !plans_.keep(*held)) continue;
    plans_.release(std::string(plans_.of(uid).plan->gang));
    ++state_.freed;
  }
}

void Reservations::expire() {
  end_attempt(speculative_.expire(clock_.now()));
  end(clock_.now(), ReservationEvent::expired);
}

void Reservations::end(Clock::Steady due, ReservationEvent result) {
  const std::vector<Holding> expired = ledger_.expire(due);
  state_.freed += expired.size();
  for (const Holding& gone : expired) {
    observer_.on(result);
    if (!gone.group.empty()) groups_.forget(gone);
  }
  // a group ends as one; only after every expired part is forgotten do group and ledger agree
  // again
  for (const Holding& gone : expired) {
    if (!gone.group.empty()) groups_.dissolve(gone.group);
  }
}

void Reservations::rebase(NodeId node, const std::vector<int>& old_indices) {
  for (const std::string& uid : ledger_.rebase(node, old_indices)) end_reservation(uid);
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

void Reservations::renew(const Holding& reservation) {
  const auto expires = clock_.now() + ttl_;
  if (reservation.planned) return;
  if (reservation.group.empty()) {
    ledger_.extend(reservation.uid, expires);
  } else {
    groups_.extend(reservation.group, expires);
  }
}

void Reservations::give_way(NodeId node, ChipSet chips) {
  std::vector<std::string> reserved;
  for (const Holding* h : ledger_.on(node)) {
    if (!h->assumed && h->chips.intersects(chips)) reserved.push_back(h->uid);
  }
  for (const std::string& uid : reserved) {
    const Holding* h = ledger_.find(uid);
    if (h == nullptr) continue;  // its group was dissolved
    if (h->group.empty()) {
      end_reservation(uid);
    } else {
      groups_.dissolve(std::string(h->group));
    }
  }
}

void Reservations::end_all() {
  end_attempt(speculative_.end_all());
  end(Clock::Steady::max(), ReservationEvent::dropped);
}

}  // namespace chipweave::sched
