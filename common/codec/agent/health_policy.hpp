// The health policy file: YAML with the effect of each signal. The built-in one, health_policy.yaml
// next to this header, explains each key and serves as an example.
//
// Strict: unknown and repeated keys, unknown values and values out of range are errors that name
// the place, because a typo must not hide a fault.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/domain/health_policy.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxHealthRules = 4096;

// The policy of the text, laid over `under`: its rules come first, its keys of `links` replace
// theirs. A rule takes the keys that it leaves out from the rule of `under` that applied to its
// code (the first that matches the code, or has the same pattern); without one, `effect` is
// required. Errors: invalid_argument with the place ("line 7: rules[3].effect: …"), limit_exceeded.
Result<domain::HealthPolicy> read_health_policy(std::string_view yaml,
                                                const domain::HealthPolicy& under = {});

// A policy as a text that read_health_policy() reads as the same policy.
std::string write_health_policy(const domain::HealthPolicy& policy);

// The text of the built-in policy.
std::string_view default_health_policy();

}  // namespace chipweave::codec
