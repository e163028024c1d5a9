// The key `communicators` of a request: which ranks of a job talk to each other
// (docs/concepts/rank-order.md). Internal to common/codec.
#pragma once

#include <string>

#include "common/codec/json/json_object.hpp"
#include "common/domain/communicators.hpp"

namespace chipweave::codec {

// Parallel sizes, or `groups`, or just a list, which means groups. Adds problems.
domain::Communicators read_communicators(JsonValue value, JsonProblems& problems);

}  // namespace chipweave::codec
