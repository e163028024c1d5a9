// "host:port" and paths of sockets as people write them: checked before they reach a library that
// would try to resolve anything.
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
  // Whether only this machine reaches it, as far as the text tells.
  bool is_loopback() const;
};

enum class PortZero { allowed, refused };

// invalid_argument with a sentence that shows the form.
Result<Endpoint> parse_endpoint(std::string_view text, PortZero zero);

// Whether a path can name a Unix socket to connect to, whatever the directory we run in.
// invalid_argument with what it must be instead: "must be …".
Result<void> check_socket_path(std::string_view path);

}  // namespace chipweave
