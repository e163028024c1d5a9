// Gang places — where the pods of a gang that are all alike would run, by the planner that the
// scheduler uses, too, as far as nodes without a network tell.
#pragma once

#include <vector>

#include "cli/whatif/cluster_model.hpp"

namespace chipweave::cli {

// One seat a pod, without bandwidths; at least `least` of them, or none. Nothing is taken.
std::vector<Seat> plan_places(const ClusterModel& model, const PodNeed& need, int pods, int least);

}  // namespace chipweave::cli
