// Explains why a text is not JSON, for the person who fixes it: comments, trailing commas, Python's
// repr, "...", a byte order mark, a truncated file.
#pragma once

#include <string_view>

#include "common/codec/json/json_tree.hpp"

namespace chipweave::codec {

// fallback_offset: where another parser failed, for texts that this one accepts. Cost: linear.
JsonSyntaxError find_json_syntax_error(std::string_view text, std::size_t fallback_offset);

}  // namespace chipweave::codec
