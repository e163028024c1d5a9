// explain — why a pod is where it is, or why it is pending and the smallest change that would let
// it run, as JSON. Reads only; the search for such a change is bounded (ChangeSearch).
#pragma once

#include <string>

#include "scheduler-plugin/app/evaluator.hpp"
#include "scheduler-plugin/app/gangs/gang_status.hpp"

namespace chipweave::sched {

std::string explain(const ClusterPod& pod, const GangView& gangs, const SchedulerState& state,
                    const RequestContexts& contexts, Evaluator& evaluator, const Clock& clock);

}  // namespace chipweave::sched
