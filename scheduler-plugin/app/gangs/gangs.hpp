// Gangs — when a gang is planned, and why its pods wait until then.
//
// Pods wait until as many are there as must start together. The first of them that a scheduler
// evaluates then brings the plan about: all pods get their nodes and chips at once, on the nodes
// that the scheduler offers for it, or none does. From then on each is given its own node only. If
// that is not offered (a taint, too little CPU) or its chips went, the pods concerned are planned
// again beside the others, and where that does not fit, all that are not bound.
//
// The reason that a waiting pod gets is the same text for all pods of the gang and at any time:
// with every other text kube-scheduler patches the pod, which makes it try again at once. Owner:
// the loop thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/gangs/gang_planner.hpp"
#include "scheduler-plugin/app/reservations.hpp"
#include "scheduler-plugin/state/plan_store.hpp"

namespace chipweave::sched {

class Gangs : public UseCase {
 public:
  Gangs(Core& core, Reservations& reservations)
      : UseCase(core),
        reservations_(reservations),
        planner_(core.state.nodes, core.state.network) {}

  // Whether the pod belongs to a gang that is planned as a whole.
  bool plans_for(const PodRequest& pod) const;
  // Sees to it that the pod has its place, if its gang can be planned now. nodes: those that its
  // scheduler offers. Returns why it has none yet; nullopt: it has, or needs none.
  std::optional<Verdict> find_place(const ClusterPod& pod, std::span<const std::string_view> nodes);
  // A scheduler asks for a pod that the cluster does not show yet. Why it has to wait; nullopt: it
  // belongs to no gang that is planned as a whole.
  std::optional<Verdict> refuse_unseen(const PodRequest& pod);
  // Whether the pod must not be bound because its gang has no place for it.
  bool has_no_place(const PodRequest& pod) const;
  // The place that the pod has is not offered, or cannot be used any more: another one.
  std::optional<Verdict> find_another(const ClusterPod& pod,
                                      std::span<const std::string_view> nodes);

  // The pod is there, or says something else about its gang.
  void added(const ClusterPod& pod);
  // Its scheduling gates have changed.
  void gates_changed(const ClusterPod& pod);
  void gone(const PodRequest& pod);
  // What an owner object asks for; nullopt: there is none any more.
  void owner_says(const std::string& id, std::optional<GangSpec> spec);
  // Plans the gang on all nodes, for pods that no scheduler may look at yet. True: its pods have
  // places, those excepted that need not come.
  bool plan_gated(const Gang& gang);
  // Whether the gang would fit if all healthy chips were free; true if that is not known.
  bool could_fit(const Gang& gang);
  // Gangs that may have pods with the gate.
  const std::set<std::string>& gated() const { return gated_; }
  // The gang has none any more.
  void opened(const std::string& gang) { gated_.erase(gang); }
  // Off: pods of gangs are placed one by one, and their gates are opened at once.
  void set_on(bool on) { on_ = on; }
  bool on() const { return on_; }
  // Its pods, those excepted that end or request no chips.
  std::vector<const ClusterPod*> pods_of(const Gang& gang) const;
  // Ends reservations whose time is over; call it about every second.
  void tick();
  void step_down();
  // Where plans of earlier terms and processes are.
  void restore_from(const PlanStore& store) { store_ = &store; }
  // Takes up the plans of an earlier term, once in each.
  void restore();

  // Why the gang has no plan, for people; "": it has one, or its pods are awaited.
  std::string why_not(const std::string& gang) const;

 private:
  static constexpr int kMaxMissed = 8;
  static constexpr int kRest = 10;
  // A gang that did not fit, and what has to change before it is tried again.
  struct Misfit {
    std::string reason;          // for people
    Verdict verdict;             // for its pods
    std::uint64_t gang = 0;      // Gang::changes
    std::uint64_t released = 0;  // Ledger::released()
    std::uint64_t gains = 0;     // NodeTable::gains()
    std::uint64_t network = 0;   // Network::version()
    NodeSet offered;
    Clock::Steady at{};              // when it was tried
    Clock::Steady::duration took{};  // and how long that took
    bool same_conditions(const Misfit& other) const;
  };
  enum class Filled {
    all,
    some,          // as many as must start; there is no room for the others
    nothing_more,  // none of the slots, but as many as must start hold chips already
    none
  };
  Misfit tried(const Gang& gang, NodeSet offered) const;
  std::optional<Verdict> plan(const Gang& gang, const std::string& uid, NodeSet offered);
  Verdict did_not_fit(const Gang& gang, Misfit misfit, Clock::Steady begin);
  void restore(const StoredPlan& stored);
  int chipless(const Gang& gang) const;
  const ClusterPod* pod_of(const Gang& gang, const GangSlot& slot) const;
  // Sees to it that there is a plan, with these slots.
  void open_plan(const Gang& gang, const GangLayout& layout);
  // Plans the slots that hold nothing, on the nodes that are offered. Sets the reason.
  Filled fill(const Gang& gang, const GangLayout& layout, Misfit& now);
  bool is_sample(const NodeSet& offered) const;
  NodeSet set_of(std::span<const std::string_view> nodes);

  Reservations& reservations_;
  GangPlanner planner_;
  std::map<std::string, Misfit, std::less<>> misfits_;  // by gang
  std::set<std::string> gated_;
  std::set<std::string, std::less<>> unseen_;  // uids of pods that a scheduler named before they came
  std::map<std::string, int, std::less<>> missed_;  // by uid: how often its node was not offered
  bool retry_ = false;  // a gang was not tried because another plan had just taken long
  bool on_ = true;
  const PlanStore* store_ = nullptr;  // null: none
  std::optional<std::uint64_t> restored_term_;
  std::vector<NodeId> found_;
};

}  // namespace chipweave::sched
