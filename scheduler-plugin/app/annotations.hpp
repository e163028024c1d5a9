// The annotations that carry a decision to the pod: our own, and those that vendors' components
// read.
#pragma once

#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

inline constexpr const char* kPlacementAnnotation = "chipweave.dev/placement";
// Of the pod in its gang, as plain text: containers read it by fieldRef.
inline constexpr const char* kRankAnnotation = "chipweave.dev/rank";

// docs/reference/http.md lists the keys. Pure.
Annotations annotations_of(const Decision& decision, const Node& node);

}  // namespace chipweave::sched
