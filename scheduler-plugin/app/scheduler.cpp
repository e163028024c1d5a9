// Inputs of the decision core: inventory, added and deleted pods, time.
#include "scheduler-plugin/app/scheduler.hpp"

#include <utility>

namespace chipweave::sched {

Scheduler::Scheduler(const Clock& clock, Cluster& cluster, Observer& observer,
                     SchedulerOptions options)
    : clock_(clock),
      cluster_(cluster),
      observer_(observer),
      options_(options),
      ledger_(nodes_),
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
  const auto asked = in_flight_.find(pod.request.uid);
  if (asked != in_flight_.end()) {
    binding_failed(asked,
                   make_error(Errc::not_found, "pod " + pod.request.key.text() + " was deleted"));
  }
  drop_orphans(pod.request.uid);
  after_bind_.erase(pod.request.uid);
  withdraw(pod.request.uid);
  if (const Decision* d = decision(pod.request.uid)) observer_.freed(placed_pod_of(*d));
  disputes_.erase(pod.request.uid);
  if (const Holding* holding = ledger_.find(pod.request.uid)) {  // bound
    const Holding gone = *holding;
    ledger_.drop(pod.request.uid);
    if (!gone.group.empty()) groups_.forget(gone);
    const Node& node = nodes_.node(gone.node);
    if (node.holders == 0 && node.boot_id.empty()) {
      nodes_.remove(gone.node);  // no agent reports it
    } else {
      settle(gone.node);
    }
  }
  jobs_.remove(pod.request);
  last_evaluations_.erase(pod.request.uid);
  decisions_.erase(pod.request.uid);
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
  const auto it = decisions_.find(uid);
  return it == decisions_.end() ? nullptr : it->second.get();
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

std::string Scheduler::check_invariants() const {
  if (std::string wrong = ledger_.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = groups_.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = check_verdicts(); !wrong.empty()) return wrong;
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
