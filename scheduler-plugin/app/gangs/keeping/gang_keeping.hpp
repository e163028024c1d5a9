// GangKeeping — keeps chips that come free for the first gang in line, so that pods which wait
// behind no gate cannot keep taking them.
//
// GangGates keeps later gangs back, but single pods and pods of other schedulers take what comes
// free: as long as such pods come, a large gang might never find all its chips free together. Once
// the first gang has waited for `after`, nodes are chosen for it: as few as suffice if all pods on
// them ended, those with the fewest chips taken first. Of the chips that a plan there would use,
// the free ones are kept at once, and the others as they come free. So the gang waits at most until
// the pods have ended that ran on these nodes when they were chosen; chips elsewhere are free for
// all. If it fits earlier, on what is kept and what is free elsewhere, it is planned in that turn.
// After kRenew, or if what is kept cannot be used any more, nodes are chosen again.
//
// For one gang at a time. Nothing is stored: a new leader chooses again. Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "scheduler-plugin/app/gangs/preemption/kept_chips.hpp"

namespace chipweave::sched {

class GangKeeping : public UseCase {
 public:
  static constexpr std::chrono::minutes kRenew{10};
  static constexpr std::chrono::seconds kTryEvery{1};  // whether it fits by now

  GangKeeping(Core& core, Gangs& gangs) : UseCase(core), gangs_(gangs) {}

  // How long a gang has waited, complete and the first in line, before chips are kept; zero: never.
  void set_after(std::chrono::milliseconds after) { after_ = after; }
  bool is_due(Clock::Steady::duration waited) const {
    return after_.count() > 0 && waited >= after_;
  }
  // Goes on for this gang, the first in line, which does not fit. Whether it has a plan now. Cost:
  // at most two plans a call.
  bool go_on(const Gang& gang);
  // Nothing is kept any more.
  void end();
  // What is kept for the gang; nothing: for another one, or for none.
  KeptChips::ByNode kept_for(const std::string& gang) const;
  // What it waits for, for people; "": nothing is kept for it.
  std::string why(const std::string& gang) const;

 private:
  // Looks for the fewest nodes, those with the fewest chips taken first: `fits` of them suffice,
  // `fails` do not.
  struct Search {
    std::vector<NodeId> order;
    std::size_t fails = 0;
    std::size_t fits = 0;
    std::optional<GangPlacement> found;  // on that many; nullopt: not known yet to suffice
  };
  bool take_trial(const Gang& gang);
  void begin_search();
  void search(const Gang& gang);
  void chosen(const Gang& gang, const GangPlacement& placement);
  FreedOnNodes without_pods(std::size_t nodes) const;
  bool plan_now(const Gang& gang);

  Gangs& gangs_;
  std::chrono::milliseconds after_{0};
  std::string gang_;           // for which chips are kept; empty: for none
  std::uint64_t changes_ = 0;  // Gang::changes of the trial
  GangTrial trial_;
  std::optional<Search> search_;
  std::optional<Clock::Steady> chosen_;  // when the nodes were chosen; nullopt: not yet
  RoomVersion tried_;                    // of the last plan
  Clock::Steady tried_at_{};
  bool in_vain_ = false;  // it does not fit on all nodes together
};

}  // namespace chipweave::sched
