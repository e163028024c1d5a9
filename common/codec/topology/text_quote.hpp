// Text of a foreign file as it may appear in a message. Internal to common/codec.
#pragma once

#include <string>
#include <string_view>

namespace chipweave::codec {

// At most `most` bytes, cut between UTF-8 characters.
std::string_view shortened(std::string_view text, std::size_t most = 60);
// Quoted, shortened, control characters and bytes that are no UTF-8 replaced by '?'.
std::string quoted_excerpt(std::string_view text);

}  // namespace chipweave::codec
