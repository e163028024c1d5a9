// Parses the files of sysfs, which hold one value each; a broken driver may have written anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace chipweave::agent {

// A file's text as SysfsTree::text returns it; nullopt (unreadable) is accepted everywhere.
using SysfsText = std::optional<std::string>;

// "0x10de" → 4318; 0 if the text is not such a number.
std::uint32_t hex_of(const SysfsText& text);
// The number a text starts with ("16.0 GT/s PCIe", "400 Gb/sec"); 0 without one, when it is
// negative or beyond 10^7.
double leading(const SysfsText& text);
int int_of(const SysfsText& text, int otherwise);
// The whole text is one number without sign, as counters are.
std::optional<std::uint64_t> count_of(const SysfsText& text);
// "4: ACTIVE" → "ACTIVE"; a text without number is itself.
std::string word_of(const SysfsText& text);
// Printable ASCII, at most 128 bytes; every other byte becomes '?'.
std::string plain(std::string_view text);

}  // namespace chipweave::agent
