// The health policy file: YAML with the effect of each signal. The built-in one, health_policy.yaml
// next to this header, explains each key and serves as an example.
//
// Strict: unknown and repeated keys, unknown values and values out of range are errors that name
// the place, because a typo must not hide a fault.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/result.hpp"
#include "common/domain/health_policy.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxHealthRules = 4096;

// Errors: invalid_argument with the place ("rules[3].effect: …"), limit_exceeded.
Result<domain::HealthPolicy> read_health_policy(std::string_view yaml);

// The text of the built-in policy.
std::string_view default_health_policy();

}  // namespace chipweave::codec
