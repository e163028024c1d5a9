#include "scheduler-plugin/app/bind_coordinator.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "scheduler-plugin/app/uncertainty.hpp"

namespace chipweave::sched {

void BindCoordinator::bind(const Binding& binding, Done done) {
  Done finish = [this, binding, begin = clock_.now(), done = std::move(done)](Result<void> result) {
    if (!result) observer_.on(BindFailed{binding, result.error()});
    observer_.on(DecisionMade{Verb::bind, clock_.now() - begin, result.ok() ? 1U : 0U});
    done(std::move(result));
  };
  if (std::string why = authority_.cannot_decide(); !why.empty())
    return finish(make_error(Errc::unavailable, std::move(why)));
  const ClusterPod* pod = cluster_.find(binding.key);
  if (pod != nullptr && pod->request.uid == binding.uid)
    return bind_known(binding, std::move(finish));
  // the pod may have been created or recreated a moment ago
  cluster_.refresh(binding.key,
                   [this, binding, finish = std::move(finish)](const Result<void>& result) {
                     if (!result) return finish(result);
                     bind_known(binding, finish);
                   });
}

void BindCoordinator::bind_known(const Binding& binding, Done done) {
  if (std::string why = authority_.cannot_decide(); !why.empty())
    return done(make_error(Errc::unavailable, std::move(why)));
  reservations_.expire();
  const ClusterPod* pod = cluster_.find(binding.key);
  const bool waits = pod != nullptr && pod->request.uid == binding.uid && pod->node.empty();
  if (waits) {
    if (auto may = permission_.check(binding.caller, *pod); !may) return done(std::move(may));
  }
  PodRecord* earlier = records_.find_in_flight(binding.uid);
  if (earlier != nullptr) {
    const InFlightBinding& in_flight = *earlier->in_flight;
    const bool here =
        in_flight.binding.node == binding.node && in_flight.binding.key == binding.key;
    // the claim of an admitted binding is for one node
    if (here || !in_flight.admitted_only() || in_flight.claim.has_value())
      return bind_again(*earlier, binding, std::move(done));
  }
  const std::string name = "pod " + binding.key.text();
  if (pod == nullptr) return done(make_error(Errc::not_found, name + " does not exist"));
  if (pod->request.uid != binding.uid) {
    return done(
        make_error(Errc::conflict, name + " has another uid: it was deleted and recreated"));
  }
  if (!pod->node.empty()) {
    if (pod->node == binding.node) return done({});  // repeated, because the first answer was lost
    return done(make_error(Errc::conflict, name + " is already bound to node " + pod->node));
  }
  if (!pod->refused.empty()) return done(make_error(Errc::invalid_argument, pod->refused));
  if (pod->request.chips == 0) {
    return cluster_.bind({binding, {}, {}}, [this, binding, done](const Result<void>& result) {
      if (result) permission_.bound(binding.uid);
      done(result);
    });
  }
  // its scheduler was answered before the cluster showed that it belongs to a gang
  if (gangs_.has_no_place(pod->request)) {
    return done(make_error(Errc::conflict, name + " waits for its gang, which has no plan yet"));
  }
  const NodeId node = nodes_.find(binding.node);
  if (node == kNoNode || !nodes_.node(node).has_inventory()) {
    return done(make_error(Errc::conflict, "node " + binding.node + ": inventory not received"));
  }
  if (!authority_.is_certain(binding.node)) return bind_when_certain(binding, std::move(done));
  if (earlier != nullptr) {
    if (auto aside = admissions_.set_aside(*earlier); !aside) return done(std::move(aside));
  }
  if (auto taken = reservations_.take(pod->request, node); !taken) return done(std::move(taken));
  PodRecord& record = decisions_.begin(binding, pod->request);
  waiting_[binding.uid].push_back(std::move(done));
  ask_cluster(record);
}

// The pod's binding is already in flight.
void BindCoordinator::bind_again(PodRecord& same, const Binding& binding, Done done) {
  InFlightBinding& in_flight = *same.in_flight;
  if (in_flight.binding.node != binding.node || in_flight.binding.key != binding.key)
    return done(bound_elsewhere(in_flight));
  const bool asked = same.state == PodState::binding;
  if (!asked && !authority_.is_certain(binding.node))
    return bind_when_certain(binding, std::move(done));
  waiting_[same.uid].push_back(std::move(done));
  if (asked) return;
  decisions_.update_place(in_flight);
  ask_cluster(same);
}

void BindCoordinator::bind_when_certain(const Binding& binding, Done done) {
  authority_.when_certain(binding.node,
                          [this, binding, done = std::move(done)](const Result<void>& result) {
                            if (!result) return done(result);
                            bind_known(binding, done);
                          });
}

void BindCoordinator::ask_cluster(PodRecord& record) {
  records_.on(record.uid, PodEvent::sent);
  InFlightBinding& in_flight = *record.in_flight;
  in_flight.term = authority_.term();
  in_flight.question = ++questions_;
  in_flight.epoch = ++state_.epochs;
  // copies: the answer may come before the call returns, and end the record's binding
  const BindOrder order{in_flight.binding, in_flight.annotations, in_flight.claim};
  cluster_.bind(
      order, [this, uid = record.uid, question = in_flight.question](const Result<void>& result) {
        cluster_answered(uid, question, result);
      });
}

void BindCoordinator::cluster_answered(const std::string& uid, std::uint64_t question,
                                       const Result<void>& result) {
  PodRecord* record = records_.find_in_flight(uid);
  if (record == nullptr || record->state != PodState::binding ||
      record->in_flight->question != question) {
    return;  // already answered
  }
  if (result) return done(*record);
  InFlightBinding& in_flight = *record->in_flight;
  const bool open =
      result.error().code == Errc::unavailable || result.error().code == Errc::deadline;
  const Clock::Steady now = clock_.now();
  if (!open && in_flight.admitted_until <= now) return failed(*record, result.error());
  // it may have been bound, by this request or by another scheduler's
  records_.on(uid, PodEvent::unanswered);
  in_flight.ask_again = open ? now + kUncertaintyWindow : in_flight.admitted_until;
  for (const Done& done : callers_of(uid)) done(result);
}

std::vector<Done> BindCoordinator::callers_of(const std::string& uid) {
  const auto callers = waiting_.extract(uid);
  return callers.empty() ? std::vector<Done>() : std::move(callers.mapped());
}

void BindCoordinator::done(PodRecord& record) {
  admissions_.drop_second(record);  // the pod is bound here, so not there
  const InFlightBinding in_flight = std::move(*record.in_flight);
  const std::vector<Done> waiting = callers_of(record.uid);
  records_.on(record.uid, PodEvent::stored);
  ++state_.stored;
  record.decision = std::make_unique<Decision>(in_flight.decision);
  const Decision& d = *record.decision;
  observer_.on(ReservationEvent::confirmed);
  observer_.on(PodBound{d.pod, record.uid, in_flight.binding.node, comma_list(d.indices), d.gbps,
                        d.best_gbps, d.id, d.unenforced_gbps});
  observer_.on(PodPlaced{decisions_.placed_pod_of(d)});
  for (const Done& done : waiting) done({});
}

void BindCoordinator::failed(PodRecord& record, const Error& why) {
  const std::string uid = record.uid;
  const std::vector<Done> waiting = callers_of(uid);
  const NodeId node = record.in_flight->decision.node;
  records_.on(uid, PodEvent::refused);
  const Holding& held = *ledger_.find(uid);
  // The pod is tried again on what its plan has for it.
  const Clock::Steady expiry = plans_.keep(held)    ? plans_.expiry(uid)
                               : held.group.empty() ? clock_.now()
                                                    : groups_.expiry(held);
  ledger_.reopen(uid, expiry);
  reservations_.withdraw(uid);
  ++state_.freed;
  bound_pods_.settle(node);
  for (const Done& done : waiting) done(why);
}

void BindCoordinator::check() {
  struct Due {
    std::string uid;
    PodKey key;
    std::uint64_t epoch;
  };
  std::vector<Due> due;
  for (PodRecord* record : records_.in(PodState::uncertain)) {
    InFlightBinding& in_flight = *record->in_flight;
    if (in_flight.ask_again > clock_.now()) continue;
    in_flight.ask_again = clock_.now() + kRecheckInterval;
    due.push_back({record->uid, in_flight.binding.key, in_flight.epoch});
  }
  for (const Due& one : due) {
    cluster_.refresh(one.key, [this, uid = one.uid, epoch = one.epoch](const Result<void>& result) {
      PodRecord* record = records_.find(uid);  // elsewhere: the pod was found bound, or is gone
      if (!result || record == nullptr || record->state != PodState::uncertain ||
          record->in_flight->epoch != epoch) {
        return;
      }
      failed(*record, make_error(Errc::unavailable, "the API server did not store the binding"));
    });
  }
}

void BindCoordinator::give_up_earlier(NodeId node, const Placement& claimed) {
  const auto claims_any = [&](const std::vector<int>& indices) {
    return std::any_of(indices.begin(), indices.end(), [&](int chip) {
      return std::find(claimed.chips.begin(), claimed.chips.end(), chip) != claimed.chips.end();
    });
  };
  std::vector<PodRecord*> lost;
  for (PodRecord* record : records_.with_second()) {
    const Holding* kept = ledger_.find(record->second->holding);
    if (kept->node == node && authority_.is_earlier(record->second->term) &&
        claims_any(nodes_.node(node).topology.indices(kept->chips)))
      lost.push_back(record);
  }
  for (PodRecord* record : lost) {
    ledger_.drop(record->second->holding);
    records_.end_second(*record);
  }
  std::vector<std::string> uids;
  for (const PodRecord* record : records_.in(PodState::uncertain)) {
    const Decision& d = record->in_flight->decision;
    if (d.node == node && record->uid != claimed.uid &&
        authority_.is_earlier(record->in_flight->term) && claims_any(d.indices))
      uids.push_back(record->uid);
  }
  for (const std::string& uid : uids) {
    PodRecord* record = records_.find_in_flight(uid);
    if (record == nullptr) continue;
    failed(*record, make_error(Errc::conflict, "the chips of pod " + record->key.text() +
                                                   " were given to another pod by the next "
                                                   "leader"));
  }
}

}  // namespace chipweave::sched
