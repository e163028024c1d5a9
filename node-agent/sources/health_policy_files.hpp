// The health policy in force: the built-in one, over it the site's policy file, over that the
// site's table of Ascend fault codes.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/health_policy.hpp"

namespace chipweave::agent {

struct LoadedPolicy {
  domain::HealthPolicy policy;
  std::vector<std::string> warnings;  // about the table
};

// Paths; "": none. Errors name the file, and the place in it.
Result<LoadedPolicy> load_health_policy(const std::string& policy_file,
                                        const std::string& fault_codes_file);

// The policy in force as a text that is a policy file itself. Without files it is the built-in
// text with its comments.
Result<std::string> print_health_policy(const std::string& policy_file,
                                        const std::string& fault_codes_file);

}  // namespace chipweave::agent
