// Makes foreign text safe to show in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::codec {

// Bytes of a foreign text that a message shows at most.
inline constexpr std::size_t kMaxQuotedBytes = 60;
// Quoted and shortened; control characters and invalid UTF-8 become '?'.
std::string quoted_excerpt(std::string_view text);
// "a", "b" … of the first few.
std::string quoted_list(const std::vector<std::string>& texts);

// Offset of the first byte that is not valid UTF-8; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace chipweave::codec
