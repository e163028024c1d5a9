// GangSearch — the search for the victims of one gang (GangVictims), in slices: each question is a
// plan with the chips of certain units free. What changes meanwhile may make its answers wrong, so
// its owner plans again at the end. Owner: the loop thread.
#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/gang_planning.hpp"
#include "scheduler-plugin/app/gangs/preemption/gang_victims.hpp"

namespace chipweave::sched {

class GangSearch {
 public:
  static constexpr std::chrono::milliseconds kSlice{15};
  static constexpr int kMaxTrials = 64;  // plans in one slice

  // coming: what comes free without it. allowed: as for GangVictims.
  GangSearch(GangTrial trial, FreedSum coming, std::vector<VictimUnit> units,
             std::vector<int> allowed)
      : trial_(std::move(trial)),
        coming_(std::move(coming)),
        victims_(std::move(units), std::move(allowed)) {}

  // False: it is over.
  bool go_on(GangPlanning& planning, const SchedulerState& state, const Clock& clock);
  const GangTrial& trial() const { return trial_; }
  const GangVictims& victims() const { return victims_; }
  // The units that were found. Precondition: some were.
  std::vector<const VictimUnit*> found() const;

 private:
  GangTrial trial_;
  FreedSum coming_;
  GangVictims victims_;
};

}  // namespace chipweave::sched
