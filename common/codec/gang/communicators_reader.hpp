// The key `communicators` of a request: which ranks of a job talk to each other
// (docs/concepts/rank-order.md). Internal to the codec .cpp files (it shows nlohmann/json).
#pragma once

#include <string>

#include "common/codec/json/json_object.hpp"
#include "common/domain/communicators.hpp"

namespace chipweave::codec {

// Parallel sizes, or `groups`, or a list alone, which stands for groups; what is wrong is added.
// where: of the value, for problems.
domain::Communicators read_communicators(const Json& value, const std::string& where,
                                         JsonProblems& problems);

}  // namespace chipweave::codec
