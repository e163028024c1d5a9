// Inputs of the decision core: inventory, added and deleted pods, time.
#include "scheduler-plugin/app/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

Scheduler::Scheduler(const Clock& clock, Cluster& cluster, Observer& observer,
                     SchedulerOptions options)
    : clock_(clock),
      cluster_(cluster),
      observer_(observer),
      options_(options),
      ledger_(nodes_, &records_),
      groups_(ledger_, observer_),
      speculative_(ledger_) {}

ReportAnswer Scheduler::report(InventoryReport report) {
  NodeTable::Reported result = nodes_.report(std::move(report), clock_.now());
  if (result.old_indices) {
    rebase(result.node, *result.old_indices);
    settle(result.node);
    complete_recalled(result.node);
  }
  return {result.outcome, std::move(result.problem)};
}

void Scheduler::agent_gone(std::string_view node, std::string_view boot_id) {
  const NodeId id = nodes_.find(node);
  if (id != kNoNode && nodes_.node(id).boot_id == boot_id) nodes_.set_stale(id, true);
}

void Scheduler::heartbeat(std::string_view node, std::string_view boot_id) {
  const NodeId id = nodes_.find(node);
  if (id != kNoNode) nodes_.seen(id, boot_id, clock_.now());
}

void Scheduler::inventory_gone(std::string_view node) {
  const NodeId id = nodes_.find(node);
  if (id == kNoNode) return;
  nodes_.withdraw_inventory(id);
  if (nodes_.node(id).holders == 0) nodes_.remove(id);
}

void Scheduler::tick() {
  expire_reservations();
  check_bindings();
  check_after_bind();
  publish_disputes();
  nodes_.mark_stale(clock_.now() - options_.inventory_stale_after);
}

void Scheduler::pod_gone(const ClusterPod& pod) {
  jobs_.remove(pod.request);
  const std::string& uid = pod.request.uid;
  PodRecord* record = records_.find(uid);
  if (record == nullptr) return;
  if (record->in_flight != nullptr) {
    binding_failed(*record,
                   make_error(Errc::not_found, "pod " + pod.request.key.text() + " was deleted"));
  }
  drop_second(*record);
  withdraw(uid);
  if (record->decision != nullptr) observer_.freed(placed_pod_of(*record->decision));
  records_.on(uid, PodEvent::gone);
  const Holding* holding = ledger_.find(uid);
  if (holding == nullptr) return;
  const Holding gone = *holding;  // bound
  ledger_.drop(uid);
  ++freed_;
  if (!gone.group.empty()) groups_.forget(gone);
  const Node& node = nodes_.node(gone.node);
  if (node.holders == 0 && node.boot_id.empty()) {
    nodes_.remove(gone.node);  // no agent reports it
  } else {
    settle(gone.node);
  }
}

Result<void> Scheduler::release(const PodKey& key, std::string_view uid) {
  if (std::string why = cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  const ClusterPod* pod = cluster_.find(key);
  if (pod == nullptr) return make_error(Errc::not_found, "pod " + key.text() + " is not known");
  if (pod->request.uid != uid) {
    return make_error(Errc::conflict,
                      "pod " + key.text() + " has another uid; nothing was released");
  }
  if (!pod->node.empty()) return cluster_.end(key);
  if (being_bound(uid) != nullptr) {
    return make_error(Errc::conflict, "pod " + key.text() + " is being bound; try again");
  }
  withdraw(uid);
  return {};
}

const Decision* Scheduler::decision(std::string_view uid) const {
  const PodRecord* record = records_.find(uid);
  return record == nullptr ? nullptr : record->decision.get();
}

bool Scheduler::pods_wait() const {
  const auto& pending = records_.in(PodState::pending);
  return std::any_of(pending.begin(), pending.end(), [&](const PodRecord* record) {
    const ClusterPod* pod = cluster_.find(record->key);
    return pod != nullptr && pod->node.empty() && pod->refused.empty();
  });
}

// Checks that the cached verdicts of every state equal newly computed ones.
std::string Scheduler::check_verdicts() const {
  for (const VerdictTable& table : tables_) {
    const RequestKind& kind = table.kind();
    PodRequest pod;
    pod.resource = kind.resource;
    pod.chips = kind.chips;
    if (kind.replicas > 1) pod.group = GroupRef{"", kind.replicas};
    RequestContext context;
    context.pod = &pod;
    context.distributed = kind.distributed;
    context.members = kind.members;
    for (StateId state = 0; state < nodes_.states(); ++state) {
      if (!table.knows(state, nodes_)) continue;
      const Verdict& kept = table.verdicts()[table.at(state)];
      if (VerdictTable::same(kept, answer_of(context, nodes_.state(state), {}).verdict)) continue;
      return "the verdict kept for " + std::to_string(kind.chips) + " " + kind.resource +
             " is not the one of the state";
    }
  }
  return {};
}

// Checks that the state of every pod is the one of its holding.
std::string Scheduler::check_records() const {
  std::string wrong;
  records_.each_after({}, [&](const PodRecord& record) {
    const Holding* held = ledger_.find(record.uid);
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
        (record.second == nullptr || ledger_.find(record.second->holding) != nullptr);
    if (!fits || !whole) {
      wrong = "pod " + record.key.text() + " is " + std::string(to_string(record.state)) +
              ", which does not match what it holds";
    }
    return wrong.empty();
  });
  return wrong;
}

std::string Scheduler::check_invariants() const {
  if (std::string wrong = ledger_.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = groups_.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = check_verdicts(); !wrong.empty()) return wrong;
  if (std::string wrong = check_records(); !wrong.empty()) return wrong;
  std::string wrong;
  cluster_.each([&](const ClusterPod& pod) {
    const Holding* holding = ledger_.find(pod.request.uid);
    if (!pod.node.empty() && pod.request.chips > 0 && (holding == nullptr || !holding->bound)) {
      wrong = "pod " + pod.request.key.text() + " is bound but holds nothing";
    }
    if (!pod.node.empty() && holding != nullptr && holding->count() != pod.request.chips) {
      wrong = "pod " + pod.request.key.text() + " holds another number of chips than it asked for";
    }
    if (pod.node.empty() && holding != nullptr && holding->bound &&
        being_bound(pod.request.uid) == nullptr) {
      wrong = "pod " + pod.request.key.text() + " holds chips as bound but is not";
    }
  });
  return wrong;
}

}  // namespace chipweave::sched
