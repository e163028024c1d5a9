// What the files of sysfs hold: one value each, from the kernel or from a broken driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace chipweave::agent {

// A file's text as SysfsTree::text gives it; each function takes an unreadable file, too.
using SysfsText = std::optional<std::string>;

// "0x10de" → 4318; 0 where there is no such number.
std::uint32_t hex_of(const SysfsText& text);
// The number a text starts with ("16.0 GT/s PCIe", "400 Gb/sec"); 0 without one, when it is
// negative or beyond 10^7.
double leading(const SysfsText& text);
int int_of(const SysfsText& text, int otherwise);
// The whole text is one number without sign, as counters are.
std::optional<std::uint64_t> count_of(const SysfsText& text);
// "4: ACTIVE" → "ACTIVE"; a text without number is itself.
std::string word_of(const SysfsText& text);
// Printable ASCII, at most 128 bytes of it: anything else is a '?'.
std::string plain(std::string_view text);

}  // namespace chipweave::agent
