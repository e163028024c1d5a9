// NodeLine — the name of a node as a walk over thousands of them compares it: two to a cache line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace chipweave::sched {

// Whether n bytes are equal. For names: inline, and no call for lengths of 8 and more.
inline bool same_bytes(const char* a, const char* b, std::size_t n) {
  if (n < sizeof(std::uint64_t)) return std::memcmp(a, b, n) == 0;
  const auto differ = [&](std::size_t at) {
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    return x ^ y;
  };
  std::uint64_t bits = differ(n - sizeof(std::uint64_t));
  for (std::size_t at = 0; at + sizeof(std::uint64_t) < n; at += sizeof(std::uint64_t)) {
    bits |= differ(at);
  }
  return bits == 0;
}

class alignas(32) NodeLine {
 public:
  static constexpr std::size_t kInline = 31;
  static constexpr std::size_t kMaxBytes = 255;

  explicit NodeLine(std::string_view name) : bytes_(static_cast<std::uint8_t>(name.size())) {
    name.copy(head_.data(), kInline);
  }
  // Whether the node is called so. Of a name longer than kInline this is said of its length and
  // first bytes only.
  bool may_be(std::string_view name) const {
    return name.size() == bytes_ &&
           same_bytes(head_.data(), name.data(), std::min(name.size(), kInline));
  }
  bool whole() const { return bytes_ <= kInline; }

 private:
  std::uint8_t bytes_;
  std::array<char, kInline> head_{};
};
static_assert(sizeof(NodeLine) == 32);

}  // namespace chipweave::sched
