// What is wrong with a text that is not JSON, for somebody who has to fix it: comments,
// trailing commas, Python's repr, "...", a byte order mark, a file cut off.
#pragma once

#include <string_view>

#include "common/codec/json/json_tree.hpp"

namespace chipweave::codec {

// fallback_offset: where another parser gave up, for texts that this one takes. Cost: linear.
JsonSyntaxError find_json_syntax_error(std::string_view text, std::size_t fallback_offset);

}  // namespace chipweave::codec
