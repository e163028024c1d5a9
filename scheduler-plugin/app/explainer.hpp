// explain — why a pod is where it is, or why it is pending and the smallest change that would let
// it run, as JSON. Reads only; the number of solver calls is bounded (limits::kMaxExplainTries).
#pragma once

#include <string>

#include "scheduler-plugin/app/evaluator.hpp"

namespace chipweave::sched {

std::string explain(const ClusterPod& pod, SchedulerState& state, Evaluator& evaluator);

}  // namespace chipweave::sched
