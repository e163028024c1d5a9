// Parses numbers in foreign text; nullopt for anything else.
#pragma once

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

}  // namespace chipweave::codec
