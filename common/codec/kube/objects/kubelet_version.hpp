// The kubelet's version in a Node object: "v1.30.2", "v1.29.4+k3s1".
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct KubeletVersion {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const KubeletVersion&, const KubeletVersion&) = default;
};

// nullopt: not of the form v1.30….
std::optional<KubeletVersion> parse_kubelet_version(std::string_view text);
// status.nodeInfo.kubeletVersion of a Node; "" if it has none. Errors: invalid_argument.
Result<std::string> read_kubelet_version(std::string& node);

}  // namespace chipweave::codec
