// The keys `network` and `gang` of a plan request: nodes, the pods to place, and the rules
// (docs/reference/cli.md).
// Internal to common/codec.
#pragma once

#include <vector>

#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

inline constexpr int kMaxPodChips = 1 << 20;

// Fills request.gang; levels and nodes must be known. Adds problems by key. A path of
// `failed_nodes` that no node has becomes an unhealthy node: it may have left the network.
void read_gang(JsonValue value, PlanRequest& request, JsonProblems& problems);

// The key `network`: fills levels and nodes. naming: the values that may name levels of the
// accelerators; where these do not nest in the switches', they are levels only if one is named.
void read_plan_network(JsonValue network, const std::vector<JsonValue>& naming, PlanRequest& out,
                       JsonProblems& problems);

}  // namespace chipweave::codec
