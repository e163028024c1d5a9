// Helpers for short human-readable strings: messages, events, log fields.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave {

// At most `most` bytes, cut between UTF-8 characters.
std::string_view shortened(std::string_view text, std::size_t most);
// The same, ending in "..." if it was cut; `most` includes the dots and is at least 3.
std::string with_dots(std::string_view text, std::size_t most);
// "0,3"
std::string comma_list(const std::vector<int>& numbers);

}  // namespace chipweave
