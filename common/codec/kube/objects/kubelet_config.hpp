// What of a kubelet's configuration file (KubeletConfiguration) decides about devices. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec {

// topologyManagerPolicy; "none" where the file does not say it. Errors: invalid_argument: no YAML
// or JSON object.
Result<std::string> read_topology_policy(std::string_view text);

}  // namespace chipweave::codec
