// The parts of a network that requests of `plan` and `rank` share: the names of its levels, and
// paths. Internal to the codec .cpp files (it shows nlohmann/json).
#pragma once

#include <string>
#include <vector>

#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

// Unique, not empty unless they may be none, at most limits::kMaxNetworkLevels; what is wrong is
// added.
std::vector<std::string> read_levels(const JsonObject& object, bool may_be_none = false);
// A list of texts, at most as many as there are levels. where: of the list, for problems.
std::vector<std::string> read_path(const Json& list, const std::string& where, std::size_t levels,
                                   JsonProblems& problems);

}  // namespace chipweave::codec
