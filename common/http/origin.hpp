// Origin — the server that a client connects to, with the TLS credentials of both sides.
#pragma once

#include <string>

namespace chipweave::http {

struct Origin {
  std::string host;  // name or address, IPv6 without brackets
  std::string port;
  bool tls = true;
  std::string server_name;      // expected name in the server's certificate; empty: host
  std::string ca_pem;           // its CA; empty: the system's trust store
  bool verify = true;           // false: accept any certificate; for test beds only
  std::string certificate_pem;  // client certificate with its chain; empty: none
  std::string key_pem;
};

}  // namespace chipweave::http
