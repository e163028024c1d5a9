// Decisions — makes and numbers the decisions about pods that are bound. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler-plugin/app/evaluator.hpp"
#include "scheduler-plugin/app/groups.hpp"
#include "scheduler-plugin/state/scheduler_state.hpp"

namespace chipweave::sched {

class Decisions {
 public:
  Decisions(const Core& core, const Evaluator& evaluator)
      : state_(core.state), clock_(core.clock), evaluator_(evaluator), groups_(core.groups) {}
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;

  // The pod gets the chips of the holding.
  Decision make(const PodRequest& pod, const Holding& holding);
  // What make() would answer.
  Decision preview(const PodRequest& pod, const Holding& holding) const;
  // Numbering continues after this decision ("d-000123"), which was made before a restart.
  void continue_after(std::string_view id);
  PlacedPod placed_pod_of(const Decision& decision) const;

 private:
  Decision numbered(const PodRequest& pod, const Holding& holding, std::uint64_t number) const;

  const SchedulerState& state_;
  const Clock& clock_;
  const Evaluator& evaluator_;
  const Groups& groups_;
  std::uint64_t count_ = 0;
};

}  // namespace chipweave::sched
