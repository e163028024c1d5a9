// Scheduler — the decision core: inventory and pods in, nodes, chips and reasons out.
//
// Owner: the loop thread (single writer); nothing here blocks or locks. Time comes from the
// injected clock. Promises: prioritize (or filter, when one node is left) holds the best node's
// chips for a pod that the cluster knows by that uid, until bind, the pod's next filter, its end or
// the end of the lifetime. kube-scheduler may still bind elsewhere: then the best set there and
// then is taken. No chip is ever promised or bound twice. While the cluster was asked for a binding
// and has not answered, the pod's chips are its own and every other answer to it is no. Cost of
// filter over n nodes: n table look-ups, and one solver look-up for each node state that this kind
// of request did not meet yet.
#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/solver/chips/node_score.hpp"
#include "scheduler-plugin/app/decide.hpp"
#include "scheduler-plugin/app/decision.hpp"
#include "scheduler-plugin/app/gang_tries.hpp"
#include "scheduler-plugin/app/groups.hpp"
#include "scheduler-plugin/app/jobs.hpp"
#include "scheduler-plugin/app/leadership.hpp"
#include "scheduler-plugin/app/survey.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/ledger.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

struct SchedulerOptions {
  std::chrono::milliseconds reservation_ttl = limits::kReservationTtl;
  std::chrono::milliseconds inventory_stale_after = limits::kInventoryStaleAfter;
  // Chips of pods that others bound without a placement are chosen then, and written to them.
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
  Result<FilterAnswer> filter(const PodAsk& pod, std::span<const std::string_view> nodes) override;
  Result<std::vector<Score>> prioritize(const PodAsk& pod,
                                        std::span<const std::string_view> nodes) override;
  void bind(const Binding& binding, Done done) override;
  void admit(const AdmissionAsk& ask, Admitted done) override;
  Result<PlacedChips> place(const PodAsk& pod, std::span<const std::string_view> nodes,
                            bool reserve) override;
  Result<PlacedChips> reserve(const PodAsk& pod, std::string_view node) override;
  Result<void> release(const PodKey& key, std::string_view uid) override;
  Result<ExplainText> explain(const PodKey& key) override;
  Result<PlacedChips> what_if(const PodAsk& pod, std::span<const std::string_view> nodes) override;
  Result<std::string> placed_pods(
      std::string_view after, std::size_t most,
      const std::function<void(const PlacedPod&)>& visit) const override;

  // ClusterListener
  void pod_added(const ClusterPod& pod, const Placement* said) override;
  void pod_bound(const ClusterPod& pod, const Placement* said) override;
  void pod_gone(const ClusterPod& pod) override;

  // filter and prioritize for handlers that write thousands of names: the same decision, without a
  // string a node. The survey is valid until the next call of any of them.
  const Survey& filter_survey(const PodAsk& pod, std::span<const std::string_view> nodes);
  const Survey& prioritize_survey(const PodAsk& pod, std::span<const std::string_view> nodes);
  // For a scheduler that tries in sessions (Volcano): verdicts and scores for a pod that the
  // session has put nowhere; nothing is promised, and what an earlier session was promised for it
  // is over.
  const Survey& session_survey(Verb verb, const PodAsk& pod,
                               std::span<const std::string_view> nodes);
  // The session has put the pod on the node: the best chips there are promised to it until it is
  // bound or taken back, or the promise's lifetime is over. ok and nothing held for a pod that the
  // cluster does not hold so, or no longer waits. Errors: unavailable; conflict: it does not fit.
  Result<void> session_allocate(const PodAsk& pod, std::string_view node);
  // The session has taken it back.
  void session_deallocate(const PodAsk& pod);
  // Whether the pod would fit on the node once the pods that were deleted there are gone.
  bool fits_when_ended(const PodAsk& pod, std::string_view node);
  // Which of the pods offered as victims (uids) must end for the pod to fit on the node: the
  // fewest, then those of least priority; such as hold no chips there stay on the list, they go for
  // other reasons. Empty: not even all of them would do.
  std::vector<std::string> choose_victims(const PodAsk& pod, std::string_view node,
                                          std::span<const std::string> offered);

  // Ends promises and marks nodes stale whose time is over, asks after bindings of which nothing
  // was heard; call it every second or so.
  void tick();

  // What is waited for before anything is known, in words; empty: nothing. Until then explain,
  // what_if and placed_pods answer `unavailable`, too.
  const std::string& waiting_for() const { return waiting_for_; }
  void set_waiting_for(std::string what) { waiting_for_ = std::move(what); }
  // Whether this replica leads is asked at each decision; null (the default): it always does.
  void set_leadership(const Leadership* leadership) { leadership_ = leadership; }
  // Why nothing can be decided now: waiting_for(), or another replica leads. Empty: it can. While
  // there is a reason, place, reserve, bind,
  // admit and release answer `unavailable` with it, and handlers refuse
  // everything else that decides; what only looks is answered.
  std::string cannot_decide() const;
  // A term of this replica is over: takes back all promises.
  void step_down();

  // Rises with everything that may have made room; then room_for_rejected() is worth asking.
  std::uint64_t changes() const { return nodes_.changes() + late_pods_; }
  // A node that has room now for a pod that filter rejected and was offered it then; empty: none.
  // Pods that ask alike are answered once until they are rejected anew, or wake_again() is called.
  // Cost: a survey a kind of request among at most kMaxKinds.
  std::string room_for_rejected();
  void wake_again();

  // For read-only views and tests.
  const NodeTable& nodes() const { return nodes_; }
  const Ledger& ledger() const { return ledger_; }
  const Cluster& cluster() const { return cluster_; }
  const Clock& clock() const { return clock_; }
  const Decision* decision(std::string_view uid) const;
  std::size_t under_way() const { return under_way_.size(); }
  std::string check_invariants() const;

 private:
  friend class Explainer;

  // A request with everything about its surroundings that a verdict depends on.
  struct Want {
    const PodAsk* pod = nullptr;
    bool distributed = false;
    int members = 1;                         // pods of its group that must fit together, with it
    NodeId only = kNoNode;                   // the node where its group is, or it is being bound to
    const Holding* part = nullptr;           // what is held for it there and cannot be another
    const Decision* binding = nullptr;       // if it is being bound
    const Ledger::ByNode* of_job = nullptr;  // what pods of its job hold, itself included
    const Holding* own = nullptr;
  };
  // A binding that the cluster was asked for.
  struct UnderWay {
    Binding binding;
    Decision decision;
    Annotations annotations;
    std::vector<Done> waiting;   // who wants to know
    std::uint64_t term = 0;      // in which the cluster was asked last
    bool asked = false;          // the cluster has not answered; else its answer was no answer
    std::uint64_t question = 0;  // number of the last one; 0: others asked, and we admitted it
    Clock::Steady ask_again{};   // when to look after it, if nobody asks
    Clock::Steady
        admitted_until{};  // so long a binding of others that we admitted may come through
    bool admitted_only() const { return question == 0; }
  };
  // Chips of a binding that was admitted and of which nothing was heard, when the pod was to be
  // bound elsewhere after all.
  struct SetAside {
    std::string holding;  // its name in the ledger
    PodKey key;
    std::uint64_t term = 0;  // in which it was admitted
    Clock::Steady ask_again{};
  };
  using UnderWayMap = std::unordered_map<std::string, UnderWay>;

  // What one node can do for a request.
  struct Answer {
    Verdict verdict;
    ChipSet chips{};               // what the pod would get
    std::vector<ChipSet> parts{};  // of a group: the pod's own, then of those still to come
    solver::Request request{};     // what the solver was asked (explanations repeat it)
  };

  // scheduler_filter.cpp: surveys of many nodes
  // What a survey may change: nothing; promises, as a scheduler's question that is likely to be
  // followed by a binding; or as one of a session.
  enum class Asked { what_if, to_bind, in_session };
  const Survey& survey(Verb verb, const PodAsk& pod, std::span<const std::string_view> nodes,
                       Asked how);
  const Holding* part_of(Verb verb, const PodAsk& pod, Asked how);
  Want want_of(const PodAsk& pod, const Holding* part) const;
  void look(const Want& want, std::span<const std::string_view> nodes);
  void accept_all();
  VerdictTable& table_of(const Want& want);
  std::uint32_t judge(const Want& want, NodeId node, VerdictTable& table);
  void rank_nodes(VerdictTable& table);
  void remember(Verb verb, const PodAsk& pod, Asked how);
  void remember_stranger(const PodAsk& pod);
  void introduce(const ClusterPod& pod);
  std::string who_says_what() const;
  std::string why_lost(const Verdict& loser, const Verdict& best) const;
  Result<PlacedChips> choose(const PodAsk& pod, std::span<const std::string_view> nodes,
                             bool reserve);
  Result<PlacedChips> placed(const Survey& survey) const;
  std::vector<std::string_view> all_names();

  // scheduler_answer.cpp: one node's answer
  static ChipSet beside_on(const Want& want, NodeId node);
  Answer answer(const Want& want, NodeId node) const;
  Answer answer_of(const Want& want, const NodeState& state, ChipSet beside) const;
  Answer chips_answer(const Want& want, const NodeState& state, ChipSet beside) const;
  Answer group_answer(const Want& want, const NodeState& state, ChipSet beside) const;
  Answer part_answer(const Want& want) const;

  // scheduler_reserve.cpp: for other schedulers
  Result<void> may_tell() const;
  Result<const ClusterPod*> may_hold(const PodAsk& pod) const;
  Result<PlacedChips> place_on(const PodAsk& pod, std::span<const std::string_view> nodes,
                               bool reserve);
  PlacedChips kept(const PodAsk& pod, const Holding& holding) const;
  PlacedPod told_of(const Decision& decision) const;

  // scheduler_hold.cpp: promises
  const ClusterPod* pending(const PodAsk& pod) const;
  static bool tried_with_others(Verb verb, const PodAsk& pod);
  bool end_tries_of_others(const PodAsk& pod);
  void promise(Verb verb, const PodAsk& pod, NodeId node, const Answer& answer);
  void withdraw(std::string_view uid);
  void expire_promises();
  void end_promises(Clock::Steady due, Promise how);
  void rebase(NodeId node, const std::vector<int>& old_indices);
  bool usable(const Holding& holding, const PodAsk& pod, bool distributed) const;

  // scheduler_bind.cpp: chips for good
  void bind_known(const Binding& binding, Done done);
  // Precondition: the pod holds its chips there, as a promise.
  UnderWay& begin_order(const Binding& binding, const PodAsk& pod);
  void bind_again(UnderWay& same, const Binding& binding, Done done);
  void bind_when_sure(const Binding& binding, Done done);
  Result<void> take_chips(const PodAsk& pod, NodeId node);
  Decision decide(const PodAsk& pod, const Holding& holding);
  void keep(Decision decision);
  void ask_cluster(const std::string& uid);
  void cluster_answered(const std::string& uid, std::uint64_t question, const Result<void>& how);
  void binding_done(UnderWayMap::iterator it);
  void binding_failed(UnderWayMap::iterator it, const Error& why);
  void look_after_bindings();
  const UnderWay* being_bound(std::string_view uid) const;
  Error bound_elsewhere(const UnderWay& order) const;

  // scheduler_admit.cpp: bindings of others
  void admit_when_sure(const AdmissionAsk& ask, const Admitted& told);
  Result<Admission> admit_known(const AdmissionAsk& ask);
  Result<Admission> would_admit(const PodAsk& pod, NodeId node);
  void set_aside(UnderWayMap::iterator it);
  void drop_set_aside(const std::string& uid);
  void look_after_set_aside();

  // scheduler_adopt.cpp: pods that others bound, or this program before it was restarted
  void adopt(const ClusterPod& pod, const Placement* said);
  Holding holding_of(const ClusterPod& pod, NodeId node);
  bool says_the_same(const Holding& held, const Placement& said) const;
  std::vector<int> contested(const Placement& said, NodeId node) const;
  void end_disputes(NodeId node);
  void tell_disputes();
  void hold_known(const Placement& said, Holding holding);
  void give_way(NodeId node, ChipSet chips);
  void settle(NodeId node);
  ChipSet guess(NodeId node, int count) const;
  void recall(const ClusterPod& pod, const Placement& said);
  void complete_recalled(NodeId node);

  // scheduler_late.cpp: pods that were bound without a placement
  struct Late {
    PodKey key;
    Annotations annotations;  // empty: not decided yet
    bool asked = false;
  };
  bool decides_late(const ClusterPod& pod) const;
  bool decide_late(const ClusterPod& pod, NodeId node);
  void write_late(const std::string& uid);
  void look_after_late();
  // scheduler_lead.cpp: which replica decides
  std::uint64_t term() const;
  bool node_is_sure(const std::string& node);
  // Calls `then` when everything is known that was bound on the node before this term. Errors:
  // unavailable (the API server does not answer, or the term is over). Only nodes that are known.
  void when_node_is_sure(const std::string& node, Done then);
  bool is_earlier(std::uint64_t term) const;
  void give_up_earlier(NodeId node, const Placement& said);

  // scheduler_preempt.cpp
  bool fits_without(const PodAsk& pod, std::string_view node, std::span<const std::string> victims);
  int priority_of(const Holding& holding) const;

  // scheduler_rejected.cpp
  static constexpr std::size_t kMaxKinds = 64;
  static constexpr std::size_t kMaxStrangers = 256;

  // scheduler.cpp
  std::string check_verdicts() const;

  const Clock& clock_;
  Cluster& cluster_;
  Observer& observer_;
  SchedulerOptions options_;
  NodeTable nodes_;
  Ledger ledger_;
  Jobs jobs_;
  Groups groups_;
  GangTries tries_;
  std::unordered_map<std::string, Look> looks_;  // by uid, of pending pods
  std::deque<Stranger> strangers_;
  std::uint64_t late_pods_ = 0;  // of strangers, that the cluster told of afterwards
  // Of bound pods, by the uid in it; in order, so that they can be told part by part.
  std::map<std::string_view, std::unique_ptr<Decision>> decisions_;
  UnderWayMap under_way_;                                 // by uid
  std::unordered_multimap<std::string, SetAside> aside_;  // by uid
  std::uint64_t set_aside_ = 0;
  std::unordered_map<std::string, Late> late_;  // by uid
  // What a bound pod says that cannot be true as long as another one has its chips; by uid. Told
  // when it lasts: news of two pods do not come at once.
  struct Dispute {
    Placement said;
    PodKey pod;
    Clock::Steady since{};
    bool told = false;
  };
  std::unordered_map<std::string, Dispute> disputes_;
  std::uint64_t questions_ = 0;
  std::uint64_t decision_count_ = 0;
  std::string waiting_for_;
  const Leadership* leadership_ = nullptr;
  std::uint64_t sure_in_ = 0;         // the term of which sure_nodes_ are
  std::set<std::string> sure_nodes_;  // whose pods were listed in this term
  // Who waits for a node to become sure, by term and node.
  std::map<std::pair<std::uint64_t, std::string>, std::vector<Done>> unsure_;

  Survey survey_;
  // Nodes of the last survey that was remembered: pods that are offered the same share one list.
  std::shared_ptr<const std::vector<NodeId>> offered_;
  Answer chosen_;                   // by the best node of the last survey that is to be acted on
  std::list<VerdictTable> tables_;  // the one used last in front
  Verdict nothing_asked_;           // what every node is told when a pod asks for no chips
  std::vector<solver::ScoreInput> score_inputs_;
};

}  // namespace chipweave::sched
