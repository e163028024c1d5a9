// The agent's health file: {"unhealthy":[3],"network_unhealthy":[5],"down_links":[[0,3],[4,7,1]]}
//
// Written by operators and by external health checkers. Strict: unknown and repeated keys and wrong
// types are errors that name the key, because a typo must not hide a fault. {}: nothing is broken.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/result.hpp"
#include "common/domain/declared_faults.hpp"

namespace chipweave::codec {

// Errors: invalid_argument with the place; limit_exceeded above limits::kMaxHealthFileBytes or for
// lists longer than any machine needs. The caller checks whether the machine has these chips.
Result<domain::DeclaredFaults> parse_health_file(std::string_view json);

}  // namespace chipweave::codec
