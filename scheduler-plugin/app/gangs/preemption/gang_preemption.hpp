// GangPreemption — makes room for a gang behind the gate by ending pods of lower priority.
//
// For one gang at a time: if it fits without all pods that may end, reads the budgets
// (PodDisruptionBudget), looks for the cheapest set of victims (GangSearch), and plans again with
// all of them gone. Then it keeps the chips of that plan (KeptChips), asks the API server to evict
// the victims, and once all chips are there, or the gang fits otherwise, gives them up and has the
// gang planned in the same turn. Chips of pods that end already count as free: so a restart in the
// middle goes on with the same victims, without anything stored. If what is wanted cannot be had
// any more, it looks again; after kLifetime, or kMaxRestarts, it gives up. A gang without victims
// is not tried again for kRest, and not before something has changed. Pods with
// spec.preemptionPolicy Never end no others. Off until it can evict. Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "scheduler-plugin/app/gangs/preemption/gang_search.hpp"
#include "scheduler-plugin/app/gangs/preemption/victim_evictions.hpp"
#include "scheduler-plugin/state/evictions.hpp"

namespace chipweave::sched {

class GangPreemption : public UseCase {
 public:
  static constexpr std::chrono::minutes kLifetime{10};  // the victims' grace periods included
  static constexpr int kMaxRestarts = 3;
  static constexpr std::chrono::seconds kRest{30};

  GangPreemption(Core& core, Gangs& gangs, const Nominations& nominations)
      : UseCase(core), gangs_(gangs), units_(core, nominations), victims_(core, units_) {}

  // Pods of gangs that do not fit may end others from now on.
  void use(Evictions& evictions) {
    evictions_ = &evictions;
    victims_.use(evictions);
  }
  // Whether this gang, which does not fit, may be the next one; of several at most one in a turn.
  bool may_begin(const Gang& gang) const;
  // kept: chips that are kept for it in another way, and given up if this begins. False: it gives
  // up at once. Precondition: may_begin().
  bool begin(const Gang& gang, const KeptChips::ByNode& kept);
  // Whether room is being made for this gang.
  bool is_for(const std::string& gang) const { return attempt_ && attempt_->gang == gang; }
  // Goes on; call it several times a second. Afterwards the gang may have a plan.
  void check();
  void step_down();
  // What the gang waits for, for people; "": nothing is to end for it.
  std::string why(const std::string& gang) const;
  // Why no pods end for it, likewise; "": they do, or it was not tried.
  std::string why_not(const std::string& gang) const;

 private:
  enum class Phase { budgets, search, keep };
  // What has to change before a gang is tried again.
  struct Conditions {
    std::uint64_t gang = 0;  // Gang::changes
    RoomVersion room;
    std::size_t bound = 0;     // Ledger::bound()
    std::uint64_t stored = 0;  // bindings
    friend bool operator==(const Conditions&, const Conditions&) = default;
  };
  struct Attempt {
    std::uint64_t serial = 0;  // of the request for budgets
    std::string gang;
    int priority = 0;
    Phase phase = Phase::budgets;
    int restarts = 0;
    Clock::Steady until{};
    bool reported = false;      // that pods end for it
    std::uint64_t changes = 0;  // Gang::changes of the trial
    GangTrial trial;
    Evictions::Budgets budgets;
    std::unique_ptr<GangSearch> search;  // null: not begun
    Conditions tried;                    // of the last plan without the rest of the victims
    Clock::Steady tried_at{};
  };
  struct Failure {
    Conditions conditions;
    Clock::Steady at{};
    bool may_pass = false;  // also if these conditions stay
    std::string why;
  };

  Conditions conditions_of(const Gang& gang) const;
  int priority_of(const Gang& gang) const;
  // Nothing of the gang's resource that may end, whatever the budgets say, is enough.
  bool is_in_vain(const Gang& gang, const KeptChips::ByNode& kept);
  void read_budgets();
  void budgets_read(std::uint64_t serial, Result<Evictions::Budgets> budgets);
  FreedSum coming_free() const;
  FreedOnNodes kept_only() const;
  void begin_search(const Gang& gang);
  void search(const Gang& gang);
  void chosen(const Gang& gang);
  void keep(const Gang& gang, const GangPlacement& placement);
  void go_on_keeping(const Gang& gang);
  bool plan_now(const Gang& gang);
  void restart(const Gang& gang, const char* why);
  void give_up(const Gang& gang, std::string why, bool may_pass);
  void end();

  Gangs& gangs_;
  VictimUnits units_;
  VictimEvictions victims_;
  Evictions* evictions_ = nullptr;  // null: off
  std::optional<Attempt> attempt_;
  std::uint64_t attempts_ = 0;
  bool begun_ = false;                                    // since the last check()
  std::map<std::string, Failure, std::less<>> failures_;  // by gang
};

}  // namespace chipweave::sched
