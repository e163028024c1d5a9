// Scheduler — the decision core: inventory and pods in, nodes, chips and reasons out.
//
// Owner: the loop thread (single writer); nothing here blocks or locks. Time comes from the
// injected clock.
//
// Reservations: prioritize (or filter, if only one node is left) reserves the best node's chips for
// a pod that the cluster knows by that uid. The reservation ends with bind, the pod's next filter,
// its deletion or its time to live. kube-scheduler may still bind elsewhere; the best set of that
// node is then taken. No chip is ever reserved or bound twice. While a binding is in flight the pod
// keeps its chips, and any other request for it is refused.
//
// Cost of filter over n nodes: n table look-ups, and one solver call for each node state that is
// new to this kind of request.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/solver/chips/node_score.hpp"
#include "scheduler-plugin/app/decide.hpp"
#include "scheduler-plugin/app/evaluation.hpp"
#include "scheduler-plugin/app/groups.hpp"
#include "scheduler-plugin/app/speculative_reservations.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/jobs.hpp"
#include "scheduler-plugin/state/leadership.hpp"
#include "scheduler-plugin/state/ledger.hpp"
#include "scheduler-plugin/state/node_table.hpp"
#include "scheduler-plugin/state/pod_record.hpp"

namespace chipweave::sched {

struct SchedulerOptions {
  std::chrono::milliseconds reservation_ttl = limits::kReservationTtl;
  std::chrono::milliseconds inventory_stale_after = limits::kInventoryStaleAfter;
  // Choose chips for pods that another scheduler bound without a placement, and annotate the pods.
  bool decide_after_bind = false;
};

class Scheduler final : public Decide, public ClusterListener {
 public:
  Scheduler(const Clock& clock, Cluster& cluster, Observer& observer,
            SchedulerOptions options = {});

  // Decide
  ReportAnswer report(InventoryReport report) override;
  void agent_gone(std::string_view node, std::string_view boot_id) override;
  void heartbeat(std::string_view node, std::string_view boot_id) override;
  void inventory_gone(std::string_view node) override;
  Result<FilterAnswer> filter(const PodRequest& pod,
                              std::span<const std::string_view> nodes) override;
  Result<std::vector<Score>> prioritize(const PodRequest& pod,
                                        std::span<const std::string_view> nodes) override;
  void bind(const Binding& binding, Done done) override;
  void admit(const AdmissionRequest& request, Admitted done) override;
  Result<PlacedChips> place(const PodRequest& pod, std::span<const std::string_view> nodes,
                            bool reserve) override;
  Result<PlacedChips> reserve(const PodRequest& pod, std::string_view node) override;
  Result<void> release(const PodKey& key, std::string_view uid) override;
  Result<ExplainText> explain(const PodKey& key) override;
  Result<PlacedChips> what_if(const PodRequest& pod,
                              std::span<const std::string_view> nodes) override;
  Result<std::string> placed_pods(
      std::string_view after, std::size_t most,
      const std::function<void(const PlacedPod&)>& visit) const override;

  // ClusterListener
  void pod_added(const ClusterPod& pod, const Placement* claimed) override;
  void pod_bound(const ClusterPod& pod, const Placement* claimed) override;
  void pod_gone(const ClusterPod& pod) override;

  // filter and prioritize for handlers that write thousands of names: the same decision without a
  // string per node. The evaluation is valid until the next of these calls.
  const Evaluation& evaluate_filter(const PodRequest& pod, std::span<const std::string_view> nodes);
  const Evaluation& evaluate_prioritize(const PodRequest& pod,
                                        std::span<const std::string_view> nodes);
  // For a scheduler that works in sessions (Volcano): verdicts and scores for a pod that the
  // session has not placed yet. Reserves nothing and ends the reservation of an earlier session.
  const Evaluation& evaluate_session(Verb verb, const PodRequest& pod,
                                     std::span<const std::string_view> nodes);
  // The session has placed the pod on the node: reserves the best chips there until the pod is
  // bound, taken back, or the reservation expires. ok without a reservation for a pod that the
  // cluster does not know by this uid or that no longer waits. Errors: unavailable; conflict: it
  // does not fit.
  Result<void> session_allocate(const PodRequest& pod, std::string_view node);
  // The session has taken the pod back.
  void session_deallocate(const PodRequest& pod);
  // Whether the pod would fit on the node once the pods that were deleted there are gone.
  bool fits_when_ended(const PodRequest& pod, std::string_view node);
  // Which of the proposed victims (uids) must end for the pod to fit on the node: the fewest, then
  // those of lowest priority. Victims without chips there stay on the list, since they were chosen
  // for other reasons. Empty: all of them are not enough.
  std::vector<std::string> choose_victims(const PodRequest& pod, std::string_view node,
                                          std::span<const std::string> offered);

  // Expires reservations, marks nodes stale and checks bindings without an answer; call it about
  // every second.
  void tick();

  // What the scheduler waits for before it can decide, as a message; empty: nothing. Until then
  // explain, what_if and placed_pods answer `unavailable` too.
  const std::string& waiting_for() const { return waiting_for_; }
  void set_waiting_for(std::string what) { waiting_for_ = std::move(what); }
  // Consulted at each decision; null (the default): this replica always leads.
  void set_leadership(const Leadership* leadership) { leadership_ = leadership; }
  // Why this replica cannot decide now: waiting_for(), or another replica leads. Empty: it can.
  // While there is a reason, place, reserve, bind, admit and release answer `unavailable` with it,
  // and handlers refuse all other decisions; read-only requests are answered.
  std::string cannot_decide() const;
  // Ends a term of this replica: drops all reservations.
  void step_down();

  // What kube-scheduler cannot see for itself, so that pods which it found no node for should be
  // tried again: how often nodes came to offer more, and how often chips came free.
  std::uint64_t gains() const { return nodes_.gains(); }
  std::uint64_t freed() const { return freed_; }
  // Bindings that were stored.
  std::uint64_t stored() const { return stored_; }
  // Whether any pod waits for chips and holds none.
  bool pods_wait() const;

  // For read-only views and tests.
  const NodeTable& nodes() const { return nodes_; }
  const Ledger& ledger() const { return ledger_; }
  const Cluster& cluster() const { return cluster_; }
  const Clock& clock() const { return clock_; }
  const Decision* decision(std::string_view uid) const;
  std::size_t in_flight() const { return records_.in_flight(); }
  const PodRecords& records() const { return records_; }
  std::string check_invariants() const;

 private:
  friend class Explainer;

  // A request with everything else that its verdicts depend on.
  struct RequestContext {
    const PodRequest* pod = nullptr;
    bool distributed = false;
    int members = 1;                    // pods of its group that must fit together, itself included
    NodeId only = kNoNode;              // the node of its group, or of its binding in flight
    const Holding* part = nullptr;      // its fixed holding there
    const Decision* binding = nullptr;  // if it is being bound
    const Ledger::ByNode* of_job = nullptr;  // what pods of its job hold, itself included
    const Holding* own = nullptr;
  };
  // What one node can do for a request.
  struct Answer {
    Verdict verdict;
    ChipSet chips{};               // what the pod would get
    std::vector<ChipSet> parts{};  // of a group: the pod's own, then of those still to come
    solver::Request request{};     // input of the solver, repeated for explanations
  };

  // scheduler_filter.cpp: evaluations of many nodes
  // What an evaluation may change: nothing; reservations, since a binding is likely to follow; or
  // the reservations of a session.
  enum class Purpose { what_if, to_bind, in_session };
  const Evaluation& evaluate(Verb verb, const PodRequest& pod,
                             std::span<const std::string_view> nodes, Purpose purpose);
  const Holding* part_of(Verb verb, const PodRequest& pod, Purpose purpose);
  RequestContext context_of(const PodRequest& pod, const Holding* part) const;
  void evaluate_nodes(const RequestContext& context, std::span<const std::string_view> nodes);
  void accept_all();
  VerdictTable& table_of(const RequestContext& context);
  std::uint32_t judge(const RequestContext& context, NodeId node, VerdictTable& table);
  void rank_nodes(VerdictTable& table);
  void remember(Verb verb, const PodRequest& pod, Purpose purpose);
  std::string rejection_summary() const;
  std::string why_lost(const Verdict& loser, const Verdict& best) const;
  Result<PlacedChips> choose(const PodRequest& pod, std::span<const std::string_view> nodes,
                             bool reserve);
  Result<PlacedChips> placed(const Evaluation& evaluation) const;
  std::vector<std::string_view> all_names();

  // scheduler_answer.cpp: one node's answer
  static ChipSet beside_on(const RequestContext& context, NodeId node);
  Answer answer(const RequestContext& context, NodeId node) const;
  Answer answer_of(const RequestContext& context, const NodeState& state, ChipSet beside) const;
  Answer chips_answer(const RequestContext& context, const NodeState& state, ChipSet beside) const;
  Answer group_answer(const RequestContext& context, const NodeState& state, ChipSet beside) const;
  Answer part_answer(const RequestContext& context) const;

  // scheduler_reserve.cpp: for other schedulers
  Result<void> require_ready() const;
  Result<const ClusterPod*> holdable_pod(const PodRequest& pod) const;
  Result<PlacedChips> place_on(const PodRequest& pod, std::span<const std::string_view> nodes,
                               bool reserve);
  PlacedChips kept(const PodRequest& pod, const Holding& holding) const;
  PlacedPod placed_pod_of(const Decision& decision) const;

  // scheduler_hold.cpp: reservations
  const ClusterPod* pending(const PodRequest& pod) const;
  static bool is_speculative(Verb verb, const PodRequest& pod);
  bool end_other_speculation(const PodRequest& pod);
  void hold_reservation(Verb verb, const PodRequest& pod, NodeId node, const Answer& answer);
  void withdraw(std::string_view uid);
  void expire_reservations();
  void end_reservations(Clock::Steady due, ReservationEvent result);
  void rebase(NodeId node, const std::vector<int>& old_indices);
  bool usable(const Holding& holding, const PodRequest& pod, bool distributed) const;

  // scheduler_bind.cpp: chips for good
  void bind_known(const Binding& binding, Done done);
  // Precondition: the pod has a reservation there.
  PodRecord& begin_binding(const Binding& binding, const PodRequest& pod);
  void bind_again(PodRecord& same, const Binding& binding, Done done);
  void bind_when_certain(const Binding& binding, Done done);
  Result<void> take_chips(const PodRequest& pod, NodeId node);
  Decision decide(const PodRequest& pod, const Holding& holding);
  void ask_cluster(PodRecord& record);
  void cluster_answered(const std::string& uid, std::uint64_t question, const Result<void>& result);
  void binding_done(PodRecord& record);
  void binding_failed(PodRecord& record, const Error& why);
  void check_bindings();
  const InFlightBinding* being_bound(std::string_view uid) const;
  PodRecord* record_in_flight(std::string_view uid);
  Error bound_elsewhere(const InFlightBinding& in_flight) const;

  // scheduler_admit.cpp: bindings of others
  void admit_when_certain(const AdmissionRequest& request, const Admitted& finish);
  Result<Admission> admit_known(const AdmissionRequest& request);
  Result<Admission> would_admit(const PodRequest& pod, NodeId node);
  Result<void> set_aside(PodRecord& record);
  void drop_second(PodRecord& record);
  void check_seconds();

  // scheduler_reconcile.cpp: pods bound by another scheduler, or before a restart
  void reconcile(const ClusterPod& pod, const Placement* claimed);
  void assume(const ClusterPod& pod, const Placement* claimed);
  Holding holding_of(const ClusterPod& pod, NodeId node);
  bool matches_holding(const Holding& held, const Placement& claimed) const;
  std::vector<int> contested(const Placement& claimed, NodeId node) const;
  void end_disputes(NodeId node);
  void publish_disputes();
  void hold_known(const Placement& claimed, Holding holding);
  void give_way(NodeId node, ChipSet chips);
  void settle(NodeId node);
  ChipSet guess(NodeId node, int count) const;
  void recall(const ClusterPod& pod, const Placement& claimed);
  void complete_recalled(NodeId node);

  // scheduler_after_bind.cpp: pods that were bound without a placement
  bool decides_after_bind(const ClusterPod& pod) const;
  bool place_after_bind(const ClusterPod& pod, NodeId node);
  void write_placement(PodRecord& record);
  void check_after_bind();
  // scheduler_lead.cpp: which replica decides
  std::uint64_t term() const;
  bool is_node_certain(const std::string& node);
  // Calls `then` when all bindings to the node from before this term are known. Precondition: the
  // node is known. Errors: unavailable (the API server does not answer, or the term is over).
  void when_node_certain(const std::string& node, Done then);
  bool is_earlier(std::uint64_t term) const;
  void give_up_earlier(NodeId node, const Placement& claimed);

  // scheduler_preempt.cpp
  bool fits_without(const PodRequest& pod, std::string_view node,
                    std::span<const std::string> victims);
  int priority_of(const Holding& holding) const;

  // scheduler.cpp
  std::string check_verdicts() const;
  std::string check_records() const;

  const Clock& clock_;
  Cluster& cluster_;
  Observer& observer_;
  SchedulerOptions options_;
  NodeTable nodes_;
  PodRecords records_;
  Ledger ledger_;
  Jobs jobs_;
  Groups groups_;
  SpeculativeReservations speculative_;
  std::uint64_t second_sets_ = 0;  // so far
  std::uint64_t freed_ = 0;
  std::uint64_t stored_ = 0;
  std::uint64_t questions_ = 0;
  std::uint64_t decision_count_ = 0;
  std::string waiting_for_;
  const Leadership* leadership_ = nullptr;
  std::uint64_t certain_term_ = 0;       // of certain_nodes_
  std::set<std::string> certain_nodes_;  // their pods were listed in this term
  // Callers that wait until a node is certain, by term and node.
  std::map<std::pair<std::uint64_t, std::string>, std::vector<Done>> awaiting_certainty_;

  Evaluation evaluation_;
  std::shared_ptr<const NodeSet> offered_;  // of the last evaluation that was remembered
  Answer chosen_;  // by the best node of the last evaluation that is to be acted on
  std::list<VerdictTable> tables_;  // the one used last in front
  Verdict nothing_asked_;           // every node's verdict when a pod requests no chips
  std::vector<solver::ScoreInput> score_inputs_;
};

}  // namespace chipweave::sched
