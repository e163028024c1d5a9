// "host:port" as people write it: checked before it reaches a library that would try to resolve
// anything.
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

}  // namespace chipweave
