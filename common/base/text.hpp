// Helpers for short human-readable strings (messages, events, log fields), lists and numbers.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
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
// All items with the separator between them.
template <class Items>
std::string joined(const Items& items, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += separator;
    out += item;
    first = false;
  }
  return out;
}

// Whether the text begins with one of these; none of them: it does not.
inline bool starts_with_any(std::string_view text, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& one) { return text.starts_with(one); });
}

// Without the blanks (line ends too) around it.
std::string_view trim(std::string_view text);
// The parts between blanks, none of them empty.
std::vector<std::string_view> split_words(std::string_view text);

// These know ASCII only and leave other bytes unchanged.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

// The whole text as a number of that type; nullopt for anything else, also blanks or '+'.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number out{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(out) : std::nullopt;
}
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, int base) {
  Number out{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(out) : std::nullopt;
}
// "0", "12" up to `max`; nullopt for anything else: signs, blanks, leading zeros.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text, Number max) {
  if (text.empty() || text[0] == '-' || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  const auto out = parse_number<Number>(text);
  return out && *out <= max ? out : std::nullopt;
}

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
