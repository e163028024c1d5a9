// with_node_level — a network whose nodes can be told apart by their paths.
#pragma once

#include <optional>
#include <string>

#include "common/codec/json/json_value.hpp"

namespace chipweave::cli {

// The network, as JSON of `plan`, with a finest level of single nodes, "node"; nullopt if one of
// its levels has that name.
std::optional<std::string> with_node_level(codec::JsonValue network);

}  // namespace chipweave::cli
