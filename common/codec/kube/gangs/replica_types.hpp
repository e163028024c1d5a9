// The replica types of training operators' jobs.
#pragma once

#include <string>
#include <vector>

#include "common/codec/json/json_value.hpp"

namespace chipweave::codec {

// The names in a map from replica types to their specs, in the order in which an operator creates
// them: the leading one first.
std::vector<std::string> replica_types(JsonValue specs);

}  // namespace chipweave::codec
