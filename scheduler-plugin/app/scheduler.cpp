#include "scheduler-plugin/app/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

Scheduler::Scheduler(const Clock& clock, Cluster& cluster, Observer& observer,
                     SchedulerOptions options)
    : clock_(clock),
      cluster_(cluster),
      options_(options),
      authority_(cluster),
      groups_(state_.ledger, observer),
      evaluator_(state_, cluster, groups_),
      reservations_(state_, clock, cluster, observer, groups_, evaluator_, options.reservation_ttl),
      decisions_(state_, clock, evaluator_, groups_),
      bound_pods_(state_, clock, cluster, observer, groups_, reservations_, decisions_),
      bindings_(state_, clock, cluster, observer, authority_, groups_, evaluator_, reservations_,
                decisions_, bound_pods_),
      reconciler_(state_, cluster, observer, authority_, groups_, reservations_, decisions_,
                  bound_pods_, bindings_, options.decide_after_bind),
      preemption_(state_, cluster, evaluator_),
      extender_(state_, clock, observer, authority_, groups_, evaluator_, reservations_),
      placements_(state_, clock, cluster, authority_, groups_, evaluator_, reservations_,
                  decisions_, extender_) {}

ReportAnswer Scheduler::report(InventoryReport report) {
  NodeTable::Reported result = state_.nodes.report(std::move(report), clock_.now());
  if (result.old_indices) {
    reservations_.rebase(result.node, *result.old_indices);
    bound_pods_.settle(result.node);
    bound_pods_.complete_recalled(result.node);
  }
  return {result.outcome, std::move(result.problem)};
}

void Scheduler::agent_gone(std::string_view node, std::string_view boot_id) {
  const NodeId id = state_.nodes.find(node);
  if (id != kNoNode && state_.nodes.node(id).boot_id == boot_id) state_.nodes.set_stale(id, true);
}

void Scheduler::heartbeat(std::string_view node, std::string_view boot_id) {
  const NodeId id = state_.nodes.find(node);
  if (id != kNoNode) state_.nodes.seen(id, boot_id, clock_.now());
}

void Scheduler::inventory_gone(std::string_view node) {
  const NodeId id = state_.nodes.find(node);
  if (id == kNoNode) return;
  state_.nodes.withdraw_inventory(id);
  if (state_.nodes.node(id).holders == 0) state_.nodes.remove(id);
}

void Scheduler::tick() {
  reservations_.expire();
  bindings_.check();
  reconciler_.check();
  bound_pods_.publish_disputes();
  state_.nodes.mark_stale(clock_.now() - options_.inventory_stale_after);
}

const Decision* Scheduler::decision(std::string_view uid) const {
  const PodRecord* record = state_.records.find(uid);
  return record == nullptr ? nullptr : record->decision.get();
}

bool Scheduler::pods_wait() const {
  const auto& pending = state_.records.in(PodState::pending);
  return std::any_of(pending.begin(), pending.end(), [&](const PodRecord* record) {
    const ClusterPod* pod = cluster_.find(record->key);
    return pod != nullptr && pod->node.empty() && pod->refused.empty();
  });
}

// Checks that the state of every pod is the one of its holding.
std::string Scheduler::check_records() const {
  std::string wrong;
  state_.records.each_after({}, [&](const PodRecord& record) {
    const Holding* held = state_.ledger.find(record.uid);
    const bool free = record.state == PodState::pending;
    const bool reserved = record.state == PodState::reserved;
    const bool guessed = record.state == PodState::assumed || record.state == PodState::disputed;
    const bool fits = free ? held == nullptr
                           : held != nullptr && held->bound != reserved && held->assumed == guessed;
    const bool whole =
        (record.in_flight != nullptr) ==
            (record.state == PodState::binding || record.state == PodState::uncertain) &&
        (record.decision != nullptr) ==
            (record.state == PodState::bound || record.state == PodState::annotating) &&
        (record.dispute != nullptr) == (record.state == PodState::disputed) &&
        (record.second == nullptr || state_.ledger.find(record.second->holding) != nullptr);
    if (!fits || !whole) {
      wrong = "pod " + record.key.text() + " is " + std::string(to_string(record.state)) +
              ", which does not match what it holds";
    }
    return wrong.empty();
  });
  return wrong;
}

std::string Scheduler::check_invariants() const {
  if (std::string wrong = state_.ledger.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = groups_.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = evaluator_.check_verdicts(); !wrong.empty()) return wrong;
  if (std::string wrong = check_records(); !wrong.empty()) return wrong;
  std::string wrong;
  cluster_.each([&](const ClusterPod& pod) {
    const Holding* holding = state_.ledger.find(pod.request.uid);
    if (!pod.node.empty() && pod.request.chips > 0 && (holding == nullptr || !holding->bound)) {
      wrong = "pod " + pod.request.key.text() + " is bound but holds nothing";
    }
    if (!pod.node.empty() && holding != nullptr && holding->count() != pod.request.chips) {
      wrong = "pod " + pod.request.key.text() + " holds another number of chips than it asked for";
    }
    if (pod.node.empty() && holding != nullptr && holding->bound &&
        state_.records.being_bound(pod.request.uid) == nullptr) {
      wrong = "pod " + pod.request.key.text() + " holds chips as bound but is not";
    }
  });
  return wrong;
}

void Scheduler::step_down() {
  reservations_.end_all();
  for (const PodState state :
       {PodState::pending, PodState::reserved, PodState::binding, PodState::uncertain}) {
    // another replica answers these pods now
    for (PodRecord* record : state_.records.in(state)) record->evaluation.reset();
  }
}

}  // namespace chipweave::sched
