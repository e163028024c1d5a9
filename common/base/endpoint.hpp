// Parses "host:port" and socket paths, so that malformed ones are rejected before a library tries
// to resolve them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave {

struct Endpoint {
  std::string host;  // name, IPv4, or IPv6 without its brackets
  std::uint16_t port = 0;
  // "host:port", IPv6 in brackets.
  std::string text() const;
  // Whether only this machine can reach it, judged by the address alone.
  bool is_loopback() const;
};

enum class PortZero { allowed, refused };

// Errors: invalid_argument, with a message that shows the expected form.
Result<Endpoint> parse_endpoint(std::string_view text, PortZero zero);

// Checks that `path` is absolute and can name a Unix socket. Errors: invalid_argument ("must be
// …").
Result<void> check_socket_path(std::string_view path);

}  // namespace chipweave
