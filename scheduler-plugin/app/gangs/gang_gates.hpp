// GangGates — gangs whose pods wait behind the scheduling gate chipweave.dev/gang: plans them, in
// order, stores the plan, and then lets their pods go.
//
// Behind the gate pods cost no scheduler anything, so gangs wait there until they fit. Order: by
// priority, then by when the last pod came that must start. A gang that does not fit lets later
// ones go first for kPatience; then no other gang is planned until it is, unless it could not run
// even on an empty cluster. So a gang waits at most until the gangs and pods that were planned
// before its patience ended are gone. Pods that wait behind no gate may go first a while longer:
// until chips are kept for the first gang in line (GangKeeping). The first one in order for which
// others may end (GangPreemption) makes room for itself.
//
// A plan is stored before the first gate is opened, so that the next leader goes on with it. Gates
// cannot be closed again: pods that a scheduler cannot place on their nodes after all are planned
// again when it asks (Gangs). Gates of pods that no plan is made for are opened as they are. Owner:
// the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/domain/gangs/gang_patience.hpp"
#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "scheduler-plugin/app/gangs/keeping/gang_keeping.hpp"
#include "scheduler-plugin/app/gangs/opening/gate_opener.hpp"
#include "scheduler-plugin/app/gangs/preemption/gang_preemption.hpp"
#include "scheduler-plugin/state/plan_store.hpp"

namespace chipweave::sched {

class GangGates : public UseCase {
 public:
  static constexpr std::chrono::seconds kPatience{domain::kGangPatienceSeconds};
  // The object that says how many pods a gang has may come later than they.
  static constexpr std::chrono::seconds kSizeComes{10};
  // So much of a check() is spent on planning, and one plan more.
  static constexpr std::chrono::milliseconds kPlanningTime{20};

  struct Options {
    // A complete gang that has waited so long is let go without a plan, so that what adds nodes for
    // unschedulable pods sees it; zero: never.
    std::chrono::milliseconds timeout{0};
    std::set<std::string> pinned_schedulers{};  // GateOpener::set_pinned
    std::chrono::milliseconds keep_after{0};    // GangKeeping::set_after
  };

  GangGates(Core& core, Gangs& gangs, GangPreemption& preemption, GangKeeping& keeping,
            PlanStore& store, Options options);

  void use(PlanStore& store) { store_ = &store; }
  // Goes on with all gangs; call it several times a second. Cost: O(1) for a gang that nothing has
  // happened to, and O(pods) for others.
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
    std::uint64_t standings = 0;    // NodeStandings::version() then
  };
  // What its pods say together, as long as nothing happens to them.
  struct Members {
    std::uint64_t changes = 0;                // Gang::changes
    std::uint64_t gates = 0;                  // Gangs::gated()
    int priority = 0;                         // the highest
    std::size_t gated = 0;                    // behind our gate
    std::size_t ready = 0;                    // behind no gate of others
    Clock::Steady seen{};                     // the first of them
    std::optional<Clock::Steady> complete{};  // since when
    std::uint64_t opened = 0;                 // version of the plan for which all gates were opened
    bool again = false;                       // some could not be
  };
  struct Waiting {
    const Gang* gang = nullptr;
    Members* members = nullptr;
    std::tuple<int, Clock::Steady, std::string_view> place() const;
  };
  using Place = std::tuple<int, Clock::Steady, std::string>;

  std::vector<Waiting> in_order();
  void look(const Gang& gang, std::uint64_t gates, Members& members) const;
  bool is_let_go(const Waiting& one) const;
  bool try_plan(const Waiting& one, Clock::Steady begin);
  bool could_fit(const Gang& gang);
  Clock::Steady::duration waited(const Waiting& one) const;
  bool blocks(const Waiting& one);
  bool keep_chips(const Waiting& one, bool& first);
  void store(const Gang& gang);
  void open(const Waiting& one);
  void open_unplanned(const Waiting& one);
  void open_strays();
  void forget_gone();

  Gangs& gangs_;
  GangPreemption& preemption_;
  GangKeeping& keeping_;
  PlanStore* store_;
  Options options_;
  GateOpener opener_;
  std::map<std::string, Progress, std::less<>> progress_;  // by gang
  std::map<std::string, Members, std::less<>> members_;    // by gang, of those with gates
  // The gang that planning goes on with, where time was too short for all.
  std::optional<Place> resume_;
};

// What outlives a restart. Slots of pods that are bound have their place, too.
StoredPlan stored_plan(const GangPlan& plan, const GangPlans& plans, const NodeTable& nodes);

}  // namespace chipweave::sched
