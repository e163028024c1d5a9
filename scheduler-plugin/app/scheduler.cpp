#include "scheduler-plugin/app/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

Scheduler::Scheduler(const Clock& clock, Cluster& cluster, Observer& observer,
                     SchedulerOptions options)
    : options_(options),
      core_(clock, cluster, observer),
      evaluator_(core_.state.nodes, options.node_preference, &core_.state.demand,
                 &core_.state.network),
      reservations_(core_, evaluator_, options.reservation_ttl),
      nominations_(core_, evaluator_, reservations_),
      gangs_(core_, reservations_),
      preempting_(core_, gangs_, nominations_),
      keeping_(core_, gangs_),
      faults_(core_),
      gates_(core_, gangs_, preempting_, keeping_, no_store_, options_.gates),
      decisions_(core_),
      bound_pods_(core_, reservations_, decisions_),
      admissions_(core_, evaluator_, reservations_, decisions_, bound_pods_, gangs_),
      bindings_(core_, reservations_, decisions_, bound_pods_, admissions_, gangs_,
                std::move(options.scheduler_names)),
      truth_(core_, bound_pods_),
      reconciler_(core_, reservations_, nominations_, gangs_, decisions_, bound_pods_, truth_,
                  admissions_, bindings_, options.decide_after_bind),
      preemption_(core_, evaluator_, nominations_),
      extender_(core_, evaluator_, reservations_, nominations_, bindings_, gangs_),
      placements_(core_, evaluator_, reservations_, decisions_, extender_, gang_view()),
      claim_planner_(core_, evaluator_) {
  gangs_.set_on(options_.plan_gangs);
  gangs_.await_owners(options_.gang_owners);
  gangs_.nominations().set_on(options_.nominate_gangs);
  gangs_.planning().set_max_spares(options_.max_gang_spares);
  core_.state.network.configure(options_.network);
}

namespace {

// What a full report says about the node's place in the network; nullopt: nothing new.
std::optional<domain::NodeNetwork> network_in(InventoryReport& report) {
  if (report.network || !report.topology) return std::exchange(report.network, std::nullopt);
  domain::NodeNetwork out;
  if (const auto& super_pod = report.topology->super_pod()) out.interconnect = super_pod->id;
  return out;
}

}  // namespace

ReportAnswer Scheduler::report(InventoryReport report) {
  // The only place where topologies enter: deltas change the topology that is held.
  if (report.topology && !options_.overlays.empty())
    report.topology = domain::calibrated(*report.topology, options_.overlays);
  std::optional<domain::NodeNetwork> network = network_in(report);
  const std::string node = report.node;
  NodeTable::Reported result = core_.state.nodes.report(std::move(report), core_.clock.now());
  if (result.outcome == ReportOutcome::taken) {
    core_.state.rooms.appeared(result.node);
    if (network) core_.state.network.set_inventory(node, *std::move(network));
  }
  if (result.old_indices) {
    reservations_.rebase(result.node, *result.old_indices);
    bound_pods_.settle(result.node);
    bound_pods_.complete_recalled(result.node);
    nominations_.keep_on(result.node);
  } else if (result.faults_changed) {
    bound_pods_.settle(result.node);  // MIG instances go with the GPUs that are in MIG mode
  }
  // Other chips: those that were given may be known by now.
  if (result.given_changed || result.old_indices) truth_.reported(result.node);
  return {result.outcome, std::move(result.problem)};
}

void Scheduler::agent_gone(std::string_view node, std::string_view boot_id) {
  const NodeId id = core_.state.nodes.find(node);
  if (id != kNoNode && core_.state.nodes.node(id).boot_id == boot_id)
    core_.state.nodes.set_stale(id, true);
}

void Scheduler::heartbeat(std::string_view node, std::string_view boot_id) {
  const NodeId id = core_.state.nodes.find(node);
  if (id != kNoNode) core_.state.nodes.seen(id, boot_id, core_.clock.now());
}

void Scheduler::inventory_gone(std::string_view node) {
  core_.state.network.set_inventory(std::string(node), {});
  const NodeId id = core_.state.nodes.find(node);
  if (id == kNoNode) return;
  core_.state.nodes.withdraw_inventory(id);
  if (core_.state.nodes.node(id).holders == 0) core_.state.nodes.remove(id);
}

void Scheduler::withhold(std::string_view node, std::vector<domain::Fault> chips) {
  const NodeId id = core_.state.nodes.find(node);
  if (id == kNoNode || core_.state.nodes.node(id).withheld == chips) return;
  NodeWithheld seen{std::string(node), {}, {}, core_.authority.cannot_decide().empty()};
  for (const domain::Fault& fault : chips) seen.chips.push_back(fault.chip->value);
  if (!chips.empty()) seen.why = chips.front().text;
  core_.state.nodes.set_withheld(id, std::move(chips));
  core_.observer.on(seen);
}

void Scheduler::node_offers(const std::string& node, const std::optional<NodeUse>& allocatable) {
  core_.state.rooms.set_allocatable(node, allocatable);
}

void Scheduler::node_takes(const std::string& node, std::optional<domain::NodeStanding> standing) {
  core_.state.standings.set(node, std::move(standing));
}

VictimChoice Scheduler::choose_victims(PodRequest pod, std::optional<int> priority,
                                       std::vector<ProposedVictims> nodes) {
  return {preemption_, nominations_, core_.authority, std::move(pod), priority, std::move(nodes)};
}

void Scheduler::tick() {
  gangs_.tick();
  reservations_.expire();
  bindings_.check();
  admissions_.check();
  reconciler_.check();
  nominations_.keep_all();
  bound_pods_.publish_disputes();
  core_.state.nodes.mark_stale(core_.clock.now() - options_.inventory_stale_after);
  core_.state.network.tick(core_.clock.now());
  faults_.check();
  learn_demand();
}

// Rarely: it voids all cached verdicts.
void Scheduler::learn_demand() {
  constexpr std::chrono::seconds kNodesSettle{60};
  SchedulerState& state = core_.state;
  const bool other_nodes = state.rooms.version() != known_rooms_ &&
                           (known_rooms_ == 0 || core_.clock.now() - learned_ >= kNodesSettle);
  if (state.rooms.version() == 0 || (!state.demand.due() && !other_nodes)) return;
  known_rooms_ = state.rooms.version();
  learned_ = core_.clock.now();
  state.demand.refresh(state.rooms.empty_nodes());
}

const Decision* Scheduler::decision(std::string_view uid) const {
  const PodRecord* record = core_.state.records.find(uid);
  return record == nullptr ? nullptr : record->decision.get();
}

bool Scheduler::pods_wait() const {
  const auto& pending = core_.state.records.in(PodState::pending);
  const auto& reserved = core_.state.records.in(PodState::reserved);
  return std::any_of(pending.begin(), pending.end(),
                     [&](const PodRecord* record) {
                       const ClusterPod* pod = core_.cluster.find(record->key);
                       return pod != nullptr && pod->node.empty() && pod->refused.empty() &&
                              !pod->gated;
                     }) ||
         std::any_of(reserved.begin(), reserved.end(), [&](const PodRecord* record) {
           return core_.state.ledger.find(record->uid)->nominated;
         });
}

// Checks that the state of every pod is the one of its holding.
std::string Scheduler::check_records() const {
  std::string wrong;
  core_.state.records.each_after({}, [&](const PodRecord& record) {
    const Holding* held = core_.state.ledger.find(record.uid);
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
        (record.second == nullptr || ((free || reserved || record.in_flight != nullptr) &&
                                      core_.state.ledger.find(record.second->holding) != nullptr));
    if (!fits || !whole) {
      wrong = "pod " + record.key.text() + " is " + std::string(to_string(record.state)) +
              ", which does not match what it holds";
    }
    return wrong.empty();
  });
  return wrong;
}

std::string Scheduler::check_invariants() const {
  if (std::string wrong = core_.state.ledger.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = core_.groups.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = core_.plans.check_invariants(); !wrong.empty()) return wrong;
  if (std::string wrong = evaluator_.check_verdicts(); !wrong.empty()) return wrong;
  if (std::string wrong = check_records(); !wrong.empty()) return wrong;
  std::string wrong;
  // The ledger itself cannot check this: such reservations end right after its rebase().
  for (NodeId id = 0; id < core_.state.nodes.size(); ++id) {
    for (const Holding* h : core_.state.ledger.on(id)) {
      if (!h->bound && !h->unreported.empty())
        wrong = "chips are reserved as " + h->uid + " that the node does not have";
    }
  }
  core_.cluster.each([&](const ClusterPod& pod) {
    const Holding* holding = core_.state.ledger.find(pod.request.uid);
    if (!pod.node.empty() && pod.request.chips > 0 && (holding == nullptr || !holding->bound)) {
      wrong = "pod " + pod.request.key.text() + " is bound but holds nothing";
    }
    if (!pod.node.empty() && holding != nullptr && holding->count() != pod.request.chips) {
      wrong = "pod " + pod.request.key.text() + " holds another number of chips than it asked for";
    }
    if (pod.node.empty() && holding != nullptr && holding->bound &&
        core_.state.records.being_bound(pod.request.uid) == nullptr) {
      wrong = "pod " + pod.request.key.text() + " holds chips as bound but is not";
    }
  });
  return wrong;
}

void Scheduler::use(PlanStore& store) {
  gates_.use(store);
  gangs_.restore_from(store);
}

void Scheduler::step_down() {
  gates_.step_down();
  gangs_.step_down();
  faults_.step_down();
  reservations_.end_all();
  bindings_.step_down();
  for (const PodState state :
       {PodState::pending, PodState::reserved, PodState::binding, PodState::uncertain}) {
    // another replica answers these pods now
    for (PodRecord* record : core_.state.records.in(state)) record->evaluation.reset();
  }
}

}  // namespace chipweave::sched
