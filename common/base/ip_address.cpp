#include "common/base/ip_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <vector>

#include "common/base/text.hpp"

namespace chipweave {
namespace {

constexpr std::size_t kGroups = 8;

std::optional<IpAddress> parse_v4(std::string_view text) {
  IpAddress out;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t end = i < 3 ? text.find('.') : text.size();
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = whole_number<unsigned>(text.substr(0, end), 255);
    if (!number) return std::nullopt;
    out.bytes[i] = static_cast<std::uint8_t>(*number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// The 16-bit groups of one side of "::"; a dotted tail counts for two.
std::optional<std::vector<unsigned>> groups_of(std::string_view text, bool last) {
  std::vector<unsigned> out;
  if (text.empty()) return out;
  const std::vector<std::string_view> words = split(text, ':');
  if (words.size() > kGroups) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (last && i + 1 == words.size() && words[i].find('.') != std::string_view::npos) {
      const auto tail = parse_v4(words[i]);
      if (!tail) return std::nullopt;
      out.push_back(tail->bytes[0] * 256U + tail->bytes[1]);
      out.push_back(tail->bytes[2] * 256U + tail->bytes[3]);
      continue;
    }
    const auto value = parse_number<unsigned>(words[i], 16);
    if (!value || words[i].size() > 4) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  const std::size_t gap = text.find("::");
  const bool has_gap = gap != std::string_view::npos;
  const auto front = groups_of(text.substr(0, gap), !has_gap);
  const auto back = groups_of(has_gap ? text.substr(gap + 2) : "", true);
  if (!front || !back) return std::nullopt;
  const std::size_t count = front->size() + back->size();
  if (has_gap ? count >= kGroups : count != kGroups) return std::nullopt;
  IpAddress out;
  out.v6 = true;
  const auto put = [&out](std::size_t at, unsigned group) {
    out.bytes[2 * at] = static_cast<std::uint8_t>(group >> 8U);
    out.bytes[2 * at + 1] = static_cast<std::uint8_t>(group & 0xFFU);
  };
  for (std::size_t i = 0; i < front->size(); ++i) put(i, (*front)[i]);
  for (std::size_t i = 0; i < back->size(); ++i) put(kGroups - back->size() + i, (*back)[i]);
  return out;
}

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
  auto out = parse_v4(text);
  if (!out) out = parse_v6(text);
  return out;
}

std::optional<ScopedIp> parse_scoped_ip(std::string_view text) {
  const std::size_t percent = std::min(text.find('%'), text.size());
  const std::string_view scope = text.substr(percent);
  const auto ip = parse_ip(text.substr(0, percent));
  if (!ip || (!scope.empty() && (!ip->v6 || scope.size() == 1))) return std::nullopt;
  return ScopedIp{*ip, scope};
}

bool is_local_host(std::string_view host) {
  const auto ip = parse_ip(host);
  return host == "localhost" || (ip && ip->is_loopback());
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
