// The key `gang` of a plan request: the pods to place, and the rules (docs/reference/cli.md).
// Internal to common/codec.
#pragma once

#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

inline constexpr int kMaxPodChips = 1 << 20;

// Fills request.gang; levels and nodes must be known. Adds problems by key. A path of
// `failed_nodes` that no node has becomes an unhealthy node: it may have left the network.
void read_gang(JsonValue value, PlanRequest& request, JsonProblems& problems);

}  // namespace chipweave::codec
