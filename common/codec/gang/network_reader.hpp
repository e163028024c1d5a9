// The parts of a network that requests of `plan` and `rank` share: the names of its levels, and
// paths. Internal to common/codec.
#pragma once

#include <string>
#include <vector>

#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

// Names must be unique and at most limits::kMaxNetworkLevels; the list may be empty only if
// allowed. Adds problems.
std::vector<std::string> read_levels(const JsonObject& object, bool may_be_none = false);
// A list of names, at most as many as there are levels.
std::vector<std::string> read_path(JsonValue list, std::size_t levels, JsonProblems& problems);

}  // namespace chipweave::codec
