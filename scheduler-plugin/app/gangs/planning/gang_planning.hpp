// GangPlanning — makes the plan of a gang, or what is missing of it, and reserves it; remembers
// which gangs did not fit. Owner: the loop thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/gang_planner.hpp"
#include "scheduler-plugin/app/gangs/planning/gang_spares.hpp"
#include "scheduler-plugin/app/reservations.hpp"

namespace chipweave::sched {

// The gang with one of its pods. Precondition: it has some.
GangRef ref_of(const Gang& gang);

// The planner's task for a gang as it is now.
struct GangTrial {
  GangLayout layout;
  std::vector<std::optional<GangSeat>> seated;  // GangToPlan::seated
};

class GangPlanning : public UseCase {
 public:
  GangPlanning(Core& core, Reservations& reservations)
      : UseCase(core),
        reservations_(reservations),
        planner_(core.state.nodes, core.state.network, core.state.standings),
        spares_(core, planner_) {}

  // Plans all slots that hold nothing; if that does not fit, all that are not bound. Returns why
  // the pod `uid` (may be empty) has no place; nullopt: it has. A gang that did not fit is tried
  // again only once something has changed that may help. Precondition: it is complete, or has a
  // plan.
  std::optional<Verdict> plan(const Gang& gang, const std::string& uid, NodeSet offered);
  // Whether the gang would fit if all healthy chips were free.
  bool could_fit(const Gang& gang);
  // For a gang without a plan, whose bound pods stay where they are. Errors: those of lay_out().
  // Precondition: a pod of it requests chips.
  Result<GangTrial> trial_of(const Gang& gang) const;
  // Whether and where it would fit if this came free; without a reason. Changes nothing.
  GangPlacement try_with(const GangTrial& trial, const FreedOnNodes& to_come);
  // Why the gang has no plan, for people; "": it has one, or its pods are awaited.
  std::string why_not(const std::string& gang) const;
  // Whether a gang was not tried because another plan had just taken long; then that is forgotten.
  bool take_retry() { return std::exchange(retry_, false); }
  // The gang is gone, or is to be tried again at once.
  void forget(const std::string& gang) { misfits_.erase(gang); }
  void clear() {
    misfits_.clear();
    spares_.end_all();
  }
  // Replaces what failed of the gangs' spares; call it about every second.
  void keep_spares();
  // Gives them up: the gang is gone.
  void end_spares(const std::string& gang) { spares_.end(gang); }
  const GangSpares& spares() const { return spares_; }
  void set_max_spares(int most) { spares_.set_most(most); }

  GangPlanner& planner() { return planner_; }
  const GangPlanner& planner() const { return planner_; }
  // Its pods, those excepted that end or request no chips.
  std::vector<const ClusterPod*> pods_of(const Gang& gang) const;
  // Null: it has not come.
  const ClusterPod* pod_of(const Gang& gang, const GangSlot& slot) const;
  static Verdict waits_for_pods(const std::string& gang);

 private:
  static constexpr int kRest = 10;
  // A gang that did not fit, and what has to change before it is tried again.
  struct Conditions {
    std::uint64_t gang = 0;  // Gang::changes
    RoomVersion room;
    NodeSet offered;
    friend bool operator==(const Conditions&, const Conditions&) = default;
  };
  struct Misfit {
    std::string reason;  // for people
    Verdict verdict;     // for its pods
    Conditions tried;
    Clock::Steady at{};                  // when it was
    Clock::Steady::duration took{};      // and how long that took
    Clock::Steady::duration searched{};  // the planner's part
  };
  enum class Filled {
    all,
    some,          // as many as must start; there is no room for the others
    nothing_more,  // none of the slots, but as many as must start hold chips already
    none
  };
  Verdict did_not_fit(const Gang& gang, Misfit misfit, Clock::Steady begin);
  int chipless(const Gang& gang) const;
  // Sees to it that there is a plan, with these slots.
  void open_plan(const Gang& gang, const GangLayout& layout);
  // Plans the slots that hold nothing, on the nodes that are offered. Sets the reason.
  Filled fill(const Gang& gang, const GangLayout& layout, Misfit& now);
  // Adds to the reason what its running pods have to do with it.
  void explain_survivors(const GangLayout& layout, Misfit& now);

  Reservations& reservations_;
  GangPlanner planner_;
  GangSpares spares_;
  std::map<std::string, Misfit, std::less<>> misfits_;  // by gang
  bool retry_ = false;
};

}  // namespace chipweave::sched
