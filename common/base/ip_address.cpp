#include "common/base/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

namespace chipweave {
namespace {

constexpr std::size_t kGroups = 8;

std::string hex(unsigned group) {
  std::array<char, 4> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), group, 16).ptr;
  return {digits.data(), end};
}

// First group and length of the longest run of two and more zero groups.
std::pair<std::size_t, std::size_t> longest_gap(const std::array<unsigned, kGroups>& groups) {
  std::pair<std::size_t, std::size_t> best{kGroups, 1};
  for (std::size_t i = 0; i < kGroups; ++i) {
    std::size_t end = i;
    while (end < kGroups && groups[end] == 0) ++end;
    if (end - i > best.second) best = {i, end - i};
  }
  return best;
}

std::string text_v6(const IpAddress& address) {
  std::array<unsigned, kGroups> groups{};
  for (std::size_t i = 0; i < kGroups; ++i) {
    groups[i] = address.bytes[2 * i] * 256U + address.bytes[2 * i + 1];
  }
  const auto [gap, length] = longest_gap(groups);
  std::string out;
  for (std::size_t i = 0; i < kGroups; ++i) {
    if (i == gap) {
      out += "::";
      i += length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    out += hex(groups[i]);
  }
  return out;
}

}  // namespace

bool IpAddress::is_loopback() const {
  if (!v6) return bytes[0] == 127;
  return bytes.back() == 1 &&
         std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t b) { return b == 0; });
}

std::optional<IpAddress> IpAddress::plus(std::uint32_t n) const {
  IpAddress out = *this;
  std::uint64_t carry = n;
  for (std::size_t i = static_cast<std::size_t>(bits()) / 8; i-- > 0 && carry > 0;) {
    carry += out.bytes[i];
    out.bytes[i] = static_cast<std::uint8_t>(carry & 0xFFU);
    carry >>= 8U;
  }
  return carry == 0 ? std::optional(out) : std::nullopt;
}

IpAddress IpAddress::with_host_bits(int prefix, bool value) const {
  IpAddress out = *this;
  for (int bit = prefix; bit < bits(); ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> static_cast<unsigned>(bit % 8));
    std::uint8_t& byte = out.bytes[static_cast<std::size_t>(bit) / 8];
    byte = static_cast<std::uint8_t>(value ? byte | mask : byte & ~mask);
  }
  return out;
}

std::string IpAddress::text() const {
  if (v6) return text_v6(*this);
  std::string out;
  for (std::size_t i = 0; i < 4; ++i) out += (i == 0 ? "" : ".") + std::to_string(bytes[i]);
  return out;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> ended{};  // longer texts are no addresses
  if (text.size() >= ended.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  text.copy(ended.data(), text.size());
  IpAddress out;
  out.v6 = text.find(':') != std::string_view::npos;
  if (::inet_pton(out.v6 ? AF_INET6 : AF_INET, ended.data(), out.bytes.data()) != 1)
    return std::nullopt;
  return out;
}

std::optional<int> prefix_of_netmask(const IpAddress& mask) {
  int ones = 0;
  while (ones < mask.bits() && mask.with_host_bits(ones, false) != mask) ++ones;
  IpAddress full;
  full.v6 = mask.v6;
  full = full.with_host_bits(0, true).with_host_bits(ones, false);
  return full == mask ? std::optional(ones) : std::nullopt;
}

}  // namespace chipweave
