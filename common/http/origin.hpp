// Origin — the server that a client connects to, with the TLS credentials of both sides.
#pragma once

#include <string>

#include "common/base/tls_pem.hpp"

namespace chipweave::http {

struct Origin {
  std::string host;  // name or address, IPv6 without brackets
  std::string port;
  bool tls = true;
  bool verify = true;  // false: accept any certificate; for test beds only
  ClientPem pem;
};

}  // namespace chipweave::http
