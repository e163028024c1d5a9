// Parses numbers in foreign text; nullopt for anything else.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace chipweave::codec {

// The whole text, blanks around it allowed, a sign for parse_int only.
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
// "0x10de" or "10de".
std::optional<std::uint32_t> parse_hex(std::string_view text);
// The number that a text starts with: "32.0 GT/s PCIe" → 32.0, "16515072KiB" → 16515072.
std::optional<double> leading_number(std::string_view text);

// As programs print it: `0|[1-9][0-9]*`, at most `max`, nothing around it.
template <class Number>
std::optional<Number> plain_number(std::string_view text, Number max) {
  Number out{};
  if (text.empty() || text[0] == '-' || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole && out <= max ? std::optional(out) : std::nullopt;
}

}  // namespace chipweave::codec
