// UTF-8 of texts that come from outside.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chipweave {

// Length of the valid UTF-8 sequence at `at`, 0 if there is none (overlong forms and surrogates are
// none).
std::size_t utf8_length(std::string_view s, std::size_t at);
// Each control character becomes '?', and each byte that is no UTF-8 U+FFFD: for those who refuse a
// message for one such byte.
std::string plain_utf8(std::string_view text);

}  // namespace chipweave
