// UTF-8 checks for input from outside.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chipweave {

// Length of the valid UTF-8 sequence at `at`, 0 if there is none (overlong forms and surrogates are
// invalid).
std::size_t utf8_length(std::string_view s, std::size_t at);
// Replaces each control character by '?' and each invalid byte by U+FFFD, for receivers that reject
// a whole message because of one such byte.
std::string plain_utf8(std::string_view text);

}  // namespace chipweave
