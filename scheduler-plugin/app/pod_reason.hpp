// pod_reason — in a few words, why a pod waits, or what is wrong where it runs, for lists of pods;
// explain (explainer.hpp) says more, and evaluates the nodes again for it.
#pragma once

#include <string>

#include "scheduler-plugin/app/gangs/gang_status.hpp"

namespace chipweave::sched {

// Empty: nothing is wrong, or nothing is known yet. Cost: O(log gangs), and of a pod that no node
// took O(reasons).
std::string pod_reason(const ClusterPod& pod, const GangView& gangs, const SchedulerState& state,
                       Clock::Steady now);

}  // namespace chipweave::sched
