// Helpers for short human-readable strings (messages, events, log fields), lists and numbers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
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

// "0,1" → "0", "1"; "" → one empty item. Views into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);
// "0", "12" up to `max`; nullopt for anything else: signs, blanks, leading zeros.
std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t max);

inline void append_part(std::string& out, std::string_view part) { out += part; }
inline void append_part(std::string& out, char part) { out += part; }
template <std::integral Number>
requires(!std::same_as<Number, bool>) void append_part(std::string& out, Number part) {
  out += std::to_string(part);
}
// All parts concatenated: concat("device ", 3, " of ", name).
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (append_part(out, parts), ...);
  return out;
}

}  // namespace chipweave
