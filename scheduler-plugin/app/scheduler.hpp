// Scheduler — the decision core, put together: inventory and pods in, nodes, chips and reasons out.
//
// Owner: the loop thread (single writer); nothing here blocks or locks. Time comes from the
// injected clock. No chip is ever reserved or bound twice; while a binding is in flight the pod
// keeps its chips, and any other request for it is refused.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/domain/rate_overlay.hpp"
#include "scheduler-plugin/app/claim_planner.hpp"
#include "scheduler-plugin/app/gangs/gang_gates.hpp"
#include "scheduler-plugin/app/gangs/gang_status.hpp"
#include "scheduler-plugin/app/gangs/repair/fault_evictions.hpp"
#include "scheduler-plugin/app/inventory_sink.hpp"
#include "scheduler-plugin/app/placements.hpp"
#include "scheduler-plugin/app/pod_reason.hpp"
#include "scheduler-plugin/app/preemption.hpp"
#include "scheduler-plugin/app/reconciler.hpp"
#include "scheduler-plugin/app/victim_choice.hpp"

namespace chipweave::sched {

struct SchedulerOptions {
  std::chrono::milliseconds reservation_ttl = limits::kReservationTtl;
  std::chrono::milliseconds inventory_stale_after = limits::kInventoryStaleAfter;
  // Choose chips for pods that another scheduler bound without a placement, and annotate the pods.
  bool decide_after_bind = false;
  // Which pods may be bound by request, by spec.schedulerName; empty: see BindPermission.
  std::vector<std::string> scheduler_names{};
  // Measured constants, which replace those of the machines that agents report.
  std::vector<domain::RateOverlay> overlays{};
  solver::NodePreference node_preference{};
  bool plan_gangs = true;      // false: pods of gangs are placed one by one
  bool nominate_gangs = true;  // GangNominations
  int max_gang_spares = 0;     // GangSpares
  // Frameworks of gangs whose owner objects are reported by owner_says().
  std::vector<std::string> gang_owners{};
  GangGates::Options gates{};
  Network::Options network{};
};

class Scheduler final : public InventorySink {
 public:
  Scheduler(const Clock& clock, Cluster& cluster, Observer& observer,
            SchedulerOptions options = {});

  // InventorySink
  ReportAnswer report(InventoryReport report) override;
  void agent_gone(std::string_view node, std::string_view boot_id) override;
  void heartbeat(std::string_view node, std::string_view boot_id) override;
  void inventory_gone(std::string_view node) override;
  void withhold(std::string_view node, std::vector<domain::Fault> chips) override;
  void node_offers(const std::string& node, const std::optional<NodeUse>& allocatable) override;
  void node_takes(const std::string& node, std::optional<domain::NodeStanding> standing) override;

  // The use cases.
  Extender& extender() { return extender_; }
  BindCoordinator& bindings() { return bindings_; }
  Admissions& admissions() { return admissions_; }
  Placements& placements() { return placements_; }
  ClaimPlanner& claim_planner() { return claim_planner_; }
  const Preemption& preemption() const { return preemption_; }
  // Begins to answer a preempt request.
  VictimChoice choose_victims(PodRequest pod, std::optional<int> priority,
                              std::vector<ProposedVictims> nodes);
  Nominations& nominations() { return nominations_; }
  GangGates& gang_gates() { return gates_; }
  // Where plans of gangs are kept from now on.
  void use(PlanStore& store);
  // Pods may end so that gangs behind the gate fit (GangPreemption).
  void use(Evictions& evictions) { preempting_.use(evictions); }
  // Pods of gangs on failed nodes and chips are ended as their labels say (FaultEvictions).
  void end_failed_pods(Evictions& evictions) { faults_.use(evictions); }
  // What owner objects ask for (Gangs::owner_says).
  void owner_says(const std::string& gang, std::optional<GangSpec> spec) {
    gangs_.owner_says(gang, std::move(spec));
  }
  GangView gang_view() const {
    return {gangs_, core_.plans, preempting_, keeping_, core_.state, core_.cluster};
  }
  // See pod_reason.hpp.
  std::string pod_reason(const ClusterPod& pod) const {
    return sched::pod_reason(pod, gang_view(), core_.state, core_.clock.now());
  }
  const GangPlans& gang_plans() const { return core_.plans; }
  const GangTable& gangs() const { return core_.state.gangs; }
  Reconciler& reconciler() { return reconciler_; }
  Network& network() { return core_.state.network; }
  Authority& authority() { return core_.authority; }
  const Authority& authority() const { return core_.authority; }

  // Expires reservations, marks nodes stale, checks bindings without an answer, and learns what
  // typical pods ask for; call it about every second.
  void tick();
  // Ends a term of this replica: drops all reservations.
  void step_down();

  // What kube-scheduler cannot see for itself, so that pods which it found no node for should be
  // tried again: how often nodes came to offer more, and how often chips came free.
  std::uint64_t gains() const { return core_.state.nodes.gains(); }
  std::uint64_t freed() const { return core_.state.freed; }
  // How often the last pod of a gang came, for which the others wait.
  std::uint64_t gathered() const { return core_.state.gathered; }
  // Bindings that were stored.
  std::uint64_t stored() const { return core_.state.stored; }
  // Whether any pod waits for chips and holds none.
  bool pods_wait() const;

  // For read-only views and tests.
  const NodeTable& nodes() const { return core_.state.nodes; }
  const NodeRooms& rooms() const { return core_.state.rooms; }
  const NodeStandings& standings() const { return core_.state.standings; }
  const Network& network() const { return core_.state.network; }
  const Ledger& ledger() const { return core_.state.ledger; }
  const PodRecords& records() const { return core_.state.records; }
  const Cluster& cluster() const { return core_.cluster; }
  const Clock& clock() const { return core_.clock; }
  // The decision for a bound pod; null if its chips are not known.
  const Decision* decision(std::string_view uid) const;
  // "" if all invariants hold, else the first violation.
  std::string check_invariants() const;

 private:
  std::string check_records() const;
  void learn_demand();

  SchedulerOptions options_;
  Core core_;
  Evaluator evaluator_;
  Reservations reservations_;
  Nominations nominations_;
  Gangs gangs_;
  NoPlanStore no_store_;
  GangPreemption preempting_;
  GangKeeping keeping_;
  FaultEvictions faults_;
  GangGates gates_;
  Decisions decisions_;
  BoundPods bound_pods_;
  Admissions admissions_;
  BindCoordinator bindings_;
  KubeletTruth truth_;
  Reconciler reconciler_;
  Preemption preemption_;
  Extender extender_;
  Placements placements_;
  ClaimPlanner claim_planner_;
  std::uint64_t known_rooms_ = 0;  // NodeRooms::version() of the last learn_demand()
  Clock::Steady learned_{};
};

}  // namespace chipweave::sched
