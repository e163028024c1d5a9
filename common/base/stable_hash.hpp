// stable_hash — a hash that is the same in every build and process, for names and checksums that
// outlive the process. FNV-1a of 64 bits: who chooses the text can make two with one hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chipweave {

constexpr std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211U;
  }
  return hash;
}

// 16 digits.
inline std::string hexadecimal(std::uint64_t number) {
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; number >>= 4U) out[i] = "0123456789abcdef"[number & 15U];
  return out;
}

}  // namespace chipweave
