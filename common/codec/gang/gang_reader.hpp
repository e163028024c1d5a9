// The key `gang` of a plan request: what is to be placed, and by which rules
// (docs/reference/cli.md). Internal to common/codec.
#pragma once

#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

inline constexpr int kMaxPodChips = 1 << 20;

// Fills request.gang; levels and nodes are known. What is wrong is added to the problems, by key. A
// path of `failed_nodes` that no node has becomes an unhealthy node: it may have left the network.
void read_gang(JsonValue value, PlanRequest& request, JsonProblems& problems);

}  // namespace chipweave::codec
