// The annotations that carry a decision to the pod: our own, and those that vendors' components
// read.
#pragma once

#include <string>

#include "scheduler-plugin/app/gangs/gang_plans.hpp"
#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/network/network.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

inline constexpr const char* kPlacementAnnotation = "chipweave.dev/placement";
// Of the pod in its gang, as plain text: containers read it by fieldRef.
inline constexpr const char* kRankAnnotation = "chipweave.dev/rank";
// Its place in the plan of its gang, from when its gate is removed.
inline constexpr const char* kGangPlanAnnotation = "chipweave.dev/gang-plan";

// What a pod is annotated with when its gate is removed. node: where it is expected to run.
Annotations annotations_of(const GangPlace& place, const std::string& node);
// What it is annotated with when it is bound; docs/reference/http.md lists the keys.
Annotations annotations_of(const Decision& decision, const Node& node);

// For the pod of the slot. node: where it is, or is expected to be.
GangPlace place_of(const GangPlans::Where& at, const std::string& node, const Network& network);

}  // namespace chipweave::sched
