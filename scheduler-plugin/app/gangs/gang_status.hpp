// GangStatus — how far a gang is, for people: who is there, where its pods are to run, and what it
// waits for. Changes nothing.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "common/base/json_writer.hpp"
#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "scheduler-plugin/app/gangs/keeping/gang_keeping.hpp"
#include "scheduler-plugin/app/gangs/preemption/gang_preemption.hpp"

namespace chipweave::sched {

enum class GangState {
  ungrouped,  // it is not planned as a whole (Gang::quorum, Gangs::on)
  gathering,  // pods are missing that must start with the others
  waiting,    // it has no plan
  planned,    // as many pods as must start have their places; not all of these are bound
  running     // as many pods as must start are bound
};
inline constexpr std::array kGangStates{GangState::ungrouped, GangState::gathering,
                                        GangState::waiting, GangState::planned, GangState::running};
// Those that GangView::stage() tells apart.
inline constexpr std::array kGangStages{GangState::ungrouped, GangState::gathering,
                                        GangState::waiting, GangState::planned};
std::string_view to_string(GangState state);

struct GangStatus {
  GangState state = GangState::ungrouped;
  int pods = 0;   // that are there
  int gated = 0;  // of these, behind the gate of chipweave
  int bound = 0;
  int quorum = 0;   // that must start together
  std::string why;  // what it waits for, as a sentence; empty: nothing
};

class GangView {
 public:
  GangView(const Gangs& gangs, const GangPlans& plans, const GangPreemption& preemption,
           const GangKeeping& keeping, const SchedulerState& state, const Cluster& cluster)
      : gangs_(gangs),
        plans_(plans),
        preemption_(preemption),
        keeping_(keeping),
        state_(state),
        cluster_(cluster) {}

  // Whether the pod's gang is planned as a whole.
  bool plans_for(const PodRequest& pod) const { return gangs_.plans_for(pod); }
  // Its state, where running ones are `planned`. Cost: O(log gangs).
  GangState stage(const Gang& gang) const;
  // Cost: O(pods).
  GangStatus status(const Gang& gang) const;
  // The gang as one JSON object; with its plan, slot by slot, if `whole`.
  std::string json(const Gang& gang, bool whole) const;

 private:
  std::string why_it_waits(const Gang& gang) const;
  void write_spares(JsonWriter& w, const Gang& gang) const;
  void write_plan(JsonWriter& w, const Gang& gang, const GangPlan& plan, bool whole) const;

  const Gangs& gangs_;
  const GangPlans& plans_;
  const GangPreemption& preemption_;
  const GangKeeping& keeping_;
  const SchedulerState& state_;
  const Cluster& cluster_;
};

}  // namespace chipweave::sched
