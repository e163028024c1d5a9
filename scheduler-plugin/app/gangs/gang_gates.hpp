// GangGates — gangs whose pods wait behind the scheduling gate chipweave.dev/gang: plans them, in
// order, stores the plan, and then lets their pods go.
//
// Behind the gate pods cost no scheduler anything, so gangs wait there until they fit. Order: by
// priority, then by when the last pod came that must start. A gang that does not fit lets later
// ones go first for kPatience; then no other gang is planned until it is, unless it could not run
// even on an empty cluster. So a gang waits at most until the gangs and pods that were planned
// before its patience ended are gone, apart from single pods and from pods of other schedulers.
// The first one in order for which others may end (GangPreemption) makes room for itself.
//
// A plan is stored before the first gate is opened, so that the next leader goes on with it. Gates
// cannot be closed again: pods that a scheduler cannot place on their nodes after all are planned
// again when it asks (Gangs). Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/backoff.hpp"
#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "scheduler-plugin/app/gangs/preemption/gang_preemption.hpp"
#include "scheduler-plugin/state/plan_store.hpp"

namespace chipweave::sched {

class GangGates : public UseCase {
 public:
  static constexpr std::chrono::minutes kPatience{5};
  static constexpr std::size_t kMaxUngating = 64;  // requests at a time

  GangGates(Core& core, Gangs& gangs, GangPreemption& preemption, PlanStore& store)
      : UseCase(core), gangs_(gangs), preemption_(preemption), store_(&store) {}

  void use(PlanStore& store) { store_ = &store; }
  // Goes on with all gangs; call it several times a second. Cheap if no gang waits.
  void check();
  // Another replica leads.
  void step_down();

 private:
  // What is known of a gang beside its plan.
  struct Progress {
    std::string plan;          // id of the plan that the following belongs to
    std::uint64_t stored = 0;  // version that is stored; 0: none
    std::uint64_t asked = 0;   // version that was sent
    bool storing = false;
    std::optional<bool> could_fit;  // on an empty cluster; nullopt: not computed
    std::uint64_t gains = 0;        // NodeTable::gains() then
  };
  struct Waiting {
    int priority = 0;
    Clock::Steady since{};
    const Gang* gang = nullptr;
  };
  // A pod whose gate is being opened, or was not.
  struct Opening {
    bool asked = false;
    Clock::Steady next{};  // not before
    Backoff refusals{{std::chrono::milliseconds(200), std::chrono::seconds(30), 0}};
  };

  std::vector<Waiting> in_order();
  bool may_be_planned(const Gang& gang) const;
  bool could_fit(const Gang& gang);
  bool blocks(const Waiting& one);
  void store(const Gang& gang);
  void open(const Gang& gang);
  void open(const ClusterPod& pod, const GangPlans::Where& at);
  void open(const ClusterPod& pod, Annotations annotations);
  void open_unplanned(const Gang& gang);
  void opened(const std::string& uid, const Result<void>& result);
  void forget_gone();

  Gangs& gangs_;
  GangPreemption& preemption_;
  PlanStore* store_;
  std::map<std::string, Progress, std::less<>> progress_;    // by gang
  std::map<std::string, Clock::Steady, std::less<>> since_;  // by gang: when it was complete
  std::map<std::string, Opening, std::less<>> openings_;     // by uid
  std::size_t asked_ = 0;
};

// What outlives a restart. Slots of pods that are bound have their place, too.
StoredPlan stored_plan(const GangPlan& plan, const GangPlans& plans, const NodeTable& nodes);

}  // namespace chipweave::sched
