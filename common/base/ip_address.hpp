// IpAddress — an IPv4 or IPv6 address as files and command lines write it, parsed without
// calling the resolver.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace chipweave {

struct IpAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  // IPv4: the first four

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

  int bits() const { return v6 ? 128 : 32; }
  // 127.0.0.0/8 or ::1.
  bool is_loopback() const;
  // This address plus `n`; nullopt if that is outside of the address family.
  std::optional<IpAddress> plus(std::uint32_t n) const;
  // The bits after the first `prefix` ones set to `value`. prefix: 0..bits().
  IpAddress with_host_bits(int prefix, bool value) const;
  // The shortest form (RFC 5952); IPv4 dotted.
  std::string text() const;
};

// What inet_pton accepts: four decimal numbers without leading zeros, or RFC 4291 text with at most
// one "::", optionally with a dotted tail. No scope, no prefix, no blanks.
std::optional<IpAddress> parse_ip(std::string_view text);

// An address that may name its interface: "fe80::1%eth0".
struct ScopedIp {
  IpAddress ip;
  std::string_view scope;  // with its '%'; empty: none
};
// Only IPv6 has scopes, and a scope is not empty.
std::optional<ScopedIp> parse_scoped_ip(std::string_view text);

// Whether every machine calls itself so: "localhost", or a loopback address.
bool is_local_host(std::string_view host);

// Ones followed by zeros: the number of ones of a netmask such as 255.255.240.0 or ffff:ffff::.
std::optional<int> prefix_of_netmask(const IpAddress& mask);

}  // namespace chipweave
