// TLS credentials in PEM form: ServerPem for the listening side, ClientPem for the connecting side.
#pragma once

#include <string>

namespace chipweave {

struct ServerPem {
  std::string certificate;  // with its chain, leaf first
  std::string key;
  std::string client_ca;  // CA for client certificates; empty: clients need none
  bool operator==(const ServerPem&) const = default;
};

struct ClientPem {
  std::string ca;           // CA of the server's certificate; empty: the system's trust store
  std::string certificate;  // client certificate with its chain; empty: none
  std::string key;
  std::string server_name;  // expected name in the server's certificate; empty: the host
  bool operator==(const ClientPem&) const = default;
};

}  // namespace chipweave
