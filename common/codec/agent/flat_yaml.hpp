// A configuration file that is one flat YAML map: key → text, or a list of texts (joined by
// commas).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxConfigBytes = 64U << 10U;

// Unknown and repeated keys and nested values are errors that name the line. An empty file is an
// empty map.
Result<std::map<std::string, std::string>> parse_flat_yaml(
    std::string_view text, const std::vector<std::string>& known_keys);

}  // namespace chipweave::codec
