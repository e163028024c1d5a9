// Bind: confirms the pod's reservation, or takes the best set on the given node now.
//
// The cluster answers a binding later, or not at all. Until the outcome is known the pod keeps the
// chips (InFlightBinding). A repeated bind to the same node sends the identical binding again, of
// which the API server stores only one; a bind to another node is refused.
#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/app/uncertainty.hpp"

namespace chipweave::sched {

const InFlightBinding* Scheduler::being_bound(std::string_view uid) const {
  const PodRecord* record = records_.find(uid);
  return record == nullptr ? nullptr : record->in_flight.get();
}

PodRecord* Scheduler::record_in_flight(std::string_view uid) {
  PodRecord* record = records_.find(uid);
  return record != nullptr && record->in_flight != nullptr ? record : nullptr;
}

void Scheduler::bind(const Binding& binding, Done done) {
  Done finish = [this, binding, begin = clock_.now(), done = std::move(done)](Result<void> result) {
    if (!result) observer_.bind_failed(binding, result.error());
    observer_.decided(Verb::bind, clock_.now() - begin, result.ok() ? 1 : 0);
    done(std::move(result));
  };
  if (std::string why = cannot_decide(); !why.empty())
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

void Scheduler::bind_known(const Binding& binding, Done done) {
  if (std::string why = cannot_decide(); !why.empty())
    return done(make_error(Errc::unavailable, std::move(why)));
  expire_reservations();
  PodRecord* earlier = record_in_flight(binding.uid);
  if (earlier != nullptr) {
    const InFlightBinding& in_flight = *earlier->in_flight;
    const bool here =
        in_flight.binding.node == binding.node && in_flight.binding.key == binding.key;
    if (here || !in_flight.admitted_only()) return bind_again(*earlier, binding, std::move(done));
  }
  const ClusterPod* pod = cluster_.find(binding.key);
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
  if (pod->request.chips == 0) return cluster_.bind(binding, {}, std::move(done));
  const NodeId node = nodes_.find(binding.node);
  if (node == kNoNode || !nodes_.node(node).has_inventory()) {
    return done(make_error(Errc::conflict, "node " + binding.node + ": inventory not received"));
  }
  if (!is_node_certain(binding.node)) return bind_when_certain(binding, std::move(done));
  if (earlier != nullptr) {
    if (auto aside = set_aside(*earlier); !aside) return done(std::move(aside));
  }
  if (auto taken = take_chips(pod->request, node); !taken) return done(std::move(taken));
  PodRecord& record = begin_binding(binding, pod->request);
  record.in_flight->waiting.push_back(std::move(done));
  ask_cluster(record);
}

PodRecord& Scheduler::begin_binding(const Binding& binding, const PodRequest& pod) {
  PodRecord& record = *records_.find(pod.uid);
  const Holding& held = *ledger_.find(pod.uid);
  auto in_flight = std::make_unique<InFlightBinding>();
  in_flight->binding = binding;
  in_flight->term = term();
  in_flight->decision = decide(pod, held);
  in_flight->annotations = annotations_of(in_flight->decision, nodes_.node(held.node));
  nodes_.set_predicate_time(held.node, in_flight->decision.predicate_time);
  ledger_.confirm(pod.uid);
  record.in_flight = std::move(in_flight);
  return record;
}

Error Scheduler::bound_elsewhere(const InFlightBinding& in_flight) const {
  return make_error(Errc::conflict, "pod " + in_flight.binding.key.text() +
                                        " is being bound to node " + in_flight.binding.node +
                                        "; its outcome is not known yet");
}

// The pod's binding is already in flight.
void Scheduler::bind_again(PodRecord& same, const Binding& binding, Done done) {
  InFlightBinding& in_flight = *same.in_flight;
  if (in_flight.binding.node != binding.node || in_flight.binding.key != binding.key)
    return done(bound_elsewhere(in_flight));
  const bool asked = same.state == PodState::binding;
  if (!asked && !is_node_certain(binding.node)) return bind_when_certain(binding, std::move(done));
  in_flight.waiting.push_back(std::move(done));
  if (!asked) ask_cluster(same);
}

void Scheduler::bind_when_certain(const Binding& binding, Done done) {
  when_node_certain(binding.node,
                    [this, binding, done = std::move(done)](const Result<void>& result) {
                      if (!result) return done(result);
                      bind_known(binding, done);
                    });
}

void Scheduler::ask_cluster(PodRecord& record) {
  records_.on(record.uid, PodEvent::sent);
  InFlightBinding& in_flight = *record.in_flight;
  in_flight.term = term();
  in_flight.question = ++questions_;
  // copies: the answer may come before the call returns, and end the record's binding
  const Binding binding = in_flight.binding;
  const Annotations annotations = in_flight.annotations;
  cluster_.bind(binding, annotations,
                [this, uid = record.uid, question = in_flight.question](
                    const Result<void>& result) { cluster_answered(uid, question, result); });
}

void Scheduler::cluster_answered(const std::string& uid, std::uint64_t question,
                                 const Result<void>& result) {
  PodRecord* record = record_in_flight(uid);
  if (record == nullptr || record->state != PodState::binding ||
      record->in_flight->question != question) {
    return;  // already answered
  }
  if (result) return binding_done(*record);
  InFlightBinding& in_flight = *record->in_flight;
  const bool open =
      result.error().code == Errc::unavailable || result.error().code == Errc::deadline;
  const Clock::Steady now = clock_.now();
  if (!open && in_flight.admitted_until <= now) return binding_failed(*record, result.error());
  // it may have been bound, by this request or by another scheduler's
  records_.on(uid, PodEvent::unanswered);
  in_flight.ask_again = open ? now + kUncertaintyWindow : in_flight.admitted_until;
  for (const Done& done : std::exchange(in_flight.waiting, {})) done(result);
}

void Scheduler::binding_done(PodRecord& record) {
  const InFlightBinding in_flight = std::move(*record.in_flight);
  records_.on(record.uid, PodEvent::stored);
  ++stored_;
  record.decision = std::make_unique<Decision>(in_flight.decision);
  const Decision& d = *record.decision;
  observer_.reservation(ReservationEvent::confirmed);
  observer_.bound({d.pod, record.uid, in_flight.binding.node, comma_list(d.indices), d.gbps,
                   d.best_gbps, d.id});
  observer_.placed(placed_pod_of(d));
  for (const Done& done : in_flight.waiting) done({});
}

void Scheduler::binding_failed(PodRecord& record, const Error& why) {
  const std::string uid = record.uid;
  const std::vector<Done> waiting = std::move(record.in_flight->waiting);
  const NodeId node = record.in_flight->decision.node;
  records_.on(uid, PodEvent::refused);
  ledger_.reopen(uid, clock_.now());
  withdraw(uid);
  ++freed_;
  end_disputes(node);
  for (const Done& done : waiting) done(why);
}

// Bindings without an answer: after the uncertainty window the pod is read again to learn the
// outcome. Until that succeeds, its chips stay taken.
void Scheduler::check_bindings() {
  std::vector<std::pair<std::string, PodKey>> due;
  for (PodRecord* record : records_.in(PodState::uncertain)) {
    if (record->in_flight->ask_again > clock_.now()) continue;
    record->in_flight->ask_again = clock_.now() + kRecheckInterval;
    due.emplace_back(record->uid, record->in_flight->binding.key);
  }
  for (const auto& [uid, key] : due) {
    cluster_.refresh(key, [this, uid = uid](const Result<void>& result) {
      PodRecord* record = records_.find(uid);  // elsewhere: the pod was found bound, or is gone
      if (!result || record == nullptr || record->state != PodState::uncertain) return;
      binding_failed(*record,
                     make_error(Errc::unavailable, "the API server did not store the binding"));
    });
  }
  check_seconds();
}

// Reserves chips for the pod on this node. Keeps an existing reservation there if its chips are
// healthy.
Result<void> Scheduler::take_chips(const PodRequest& pod, NodeId node) {
  const Holding* held = is_member(pod) ? groups_.claim(pod) : ledger_.find(pod.uid);
  if (held != nullptr && held->node == node && !nodes_.node(node).stale &&
      usable(*held, pod, context_of(pod, held).distributed)) {
    return {};
  }
  if (held != nullptr && !held->group.empty()) {
    groups_.dissolve(std::string(held->group));
  } else {
    withdraw(pod.uid);
  }
  // kube-scheduler chose another node, or the reservation has expired
  const RequestContext context = context_of(pod, nullptr);
  Answer taken = answer(context, node);
  if (!taken.verdict.fits()) {
    return make_error(Errc::conflict, "pod " + pod.key.text() + " no longer fits on node " +
                                          nodes_.node(node).name + ": " + taken.verdict.reason);
  }
  auto& evaluation = records_.find(pod.uid)->evaluation;
  if (evaluation == nullptr) evaluation = std::make_unique<LastEvaluation>();
  evaluation->node = node;
  evaluation->request = taken.request;
  evaluation->gbps = taken.verdict.gbps;
  evaluation->best_gbps = taken.verdict.best_gbps;
  evaluation->others.clear();
  hold_reservation(Verb::bind, pod, node, taken);
  held = ledger_.find(pod.uid);
  if (held == nullptr) return make_error(Errc::internal, "the chips could not be held");
  return {};
}

Decision Scheduler::decide(const PodRequest& pod, const Holding& holding) {
  const Node& node = nodes_.node(holding.node);
  const RequestContext context = context_of(pod, nullptr);
  Decision d;
  std::string number = std::to_string(++decision_count_);
  if (number.size() < 6) number.insert(0, 6 - number.size(), '0');
  d.id = "d-" + number;
  d.pod = pod.key;
  d.uid = pod.uid;
  d.resource = pod.resource;
  d.node = holding.node;
  d.chips = holding.chips;
  d.indices = node.topology.indices(holding.chips);
  d.distributed = context.distributed;
  d.beside = beside_on(context, holding.node);
  const PodRecord* record = records_.find(pod.uid);
  const LastEvaluation* last = record == nullptr ? nullptr : record->evaluation.get();
  if (last != nullptr && last->node == holding.node && last->request) {
    d.request = last->request;
    d.others = last->others;
  } else {
    d.request = solver::Request{
        node.free() | holding.chips, {}, d.beside, holding.chips.size(), context.distributed};
  }
  if (const Group* group = holding.group.empty() ? nullptr : groups_.find(holding.group)) {
    d.of_group = true;
    if (group->plan.request) d.request = group->plan.request;
    for (const auto& uid : group->members) d.beside |= ledger_.find(uid)->chips;
    for (const auto& uid : group->spares) d.beside |= ledger_.find(uid)->chips;
    d.beside -= holding.chips;
  }
  d.gbps = node.wiring->gbps(d.chips | d.beside);
  d.best_gbps = node.wiring->best_gbps(d.chips | d.beside, d.distributed);
  d.time = clock_.wall();
  const auto nanos =
      std::chrono::duration_cast<std::chrono::nanoseconds>(d.time.time_since_epoch()).count();
  d.predicate_time = std::max<std::int64_t>(nanos, node.last_predicate_time + 1);
  return d;
}

}  // namespace chipweave::sched
