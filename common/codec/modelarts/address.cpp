#include "common/codec/modelarts/address.hpp"

#include <algorithm>
#include <cstddef>

namespace chipweave::codec {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// "0" to "255", no leading zeros: some readers take those for octal.
bool is_octet(std::string_view part) {
  if (part.empty() || part.size() > 3 || !std::all_of(part.begin(), part.end(), is_digit)) {
    return false;
  }
  if (part.size() > 1 && part.front() == '0') return false;
  int value = 0;
  for (const char c : part) value = value * 10 + (c - '0');
  return value <= 255;
}

bool is_ipv4(std::string_view text) {
  int parts = 1;
  for (std::size_t dot = 0; (dot = text.find('.')) != std::string_view::npos; ++parts) {
    if (!is_octet(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return parts == 4 && is_octet(text);
}

// How many groups of 16 bits stand there, separated by single colons; -1: something else stands
// there. An IPv4 address may be the last two.
int ipv6_groups(std::string_view text, bool may_end_in_ipv4) {
  int groups = 0;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    const bool last = colon == std::string_view::npos;
    if (last && may_end_in_ipv4 && is_ipv4(part)) return groups + 2;
    if (part.empty() || part.size() > 4 || !std::all_of(part.begin(), part.end(), is_hex)) {
      return -1;
    }
    ++groups;
    if (last) break;
    text.remove_prefix(colon + 1);
    if (text.empty()) return -1;
  }
  return groups;
}

bool is_ipv6(std::string_view text) {
  if (const std::size_t scope = text.find('%'); scope != std::string_view::npos) {
    if (scope + 1 == text.size()) return false;
    text = text.substr(0, scope);
  }
  constexpr int kGroups = 8;
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return ipv6_groups(text, true) == kGroups;
  const int before = ipv6_groups(text.substr(0, gap), false);
  const int behind = ipv6_groups(text.substr(gap + 2), true);
  return before >= 0 && behind >= 0 && before + behind < kGroups;
}

}  // namespace

bool is_ip_address(std::string_view text) {
  constexpr std::size_t kMostBytes = 64;  // 45 and a scope
  return text.size() <= kMostBytes && (is_ipv4(text) || is_ipv6(text));
}

bool is_address_list(std::string_view text) {
  for (std::size_t comma = 0; (comma = text.find(',')) != std::string_view::npos;) {
    if (!is_ip_address(text.substr(0, comma))) return false;
    text.remove_prefix(comma + 1);
  }
  return is_ip_address(text);
}

}  // namespace chipweave::codec
