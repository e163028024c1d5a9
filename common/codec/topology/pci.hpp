// Small things that every topology source needs: bus ids, numbers as text, and where in a text
// something is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace chipweave::codec {

// "00000000:1A:00.0" → "0000:1a:00.0": lower case, blanks trimmed, and of a domain longer than four
// digits the leading zeros dropped (NVML prints eight). Symbolic ids ("ffff:ff:01.0") and anything
// else stay as they are, lower case.
std::string normalize_bus_id(std::string_view text);

// Whole text is one number; nullopt otherwise (blanks around it are allowed, a sign only for
// parse_int).
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
// "0x10de" or "10de".
std::optional<std::uint32_t> parse_hex(std::string_view text);
// The number that a text starts with: "32.0 GT/s PCIe" → 32.0, "16515072KiB" → 16515072; nullopt
// without one.
std::optional<double> leading_number(std::string_view text);

std::string_view trim(std::string_view text);
// "line 3, column 14" of a byte offset (1-based; an offset past the end counts as the end).
std::string text_position(std::string_view content, std::size_t offset);

// PCIe generation (3…6) of a per-lane rate in GT/s; generations before 3 count as 3. 0 for a rate
// of 0 or less.
int pcie_generation_of_gts(double gigatransfers);

}  // namespace chipweave::codec
