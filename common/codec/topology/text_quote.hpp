// Text of a foreign file as it may appear in a message. Internal to common/codec.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chipweave::codec {

// Bytes of a foreign text that a message shows.
inline constexpr std::size_t kMostQuoted = 60;
// Quoted, shortened, control characters and bytes that are no UTF-8 replaced by '?'.
std::string quoted_excerpt(std::string_view text);

// Where the first byte stands that is no UTF-8; npos if all are.
std::size_t find_no_utf8(std::string_view text);

}  // namespace chipweave::codec
