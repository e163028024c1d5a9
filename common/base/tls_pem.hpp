// What TLS needs, as PEM texts: ServerPem of a side that listens, ClientPem of one that connects.
#pragma once

#include <string>

namespace chipweave {

struct ServerPem {
  std::string certificate;  // with its chain, its own first
  std::string key;
  std::string client_ca;  // who may have signed the clients' certificates; empty: none is asked for
  bool operator==(const ServerPem&) const = default;
};

struct ClientPem {
  std::string ca;           // who may have signed the server's certificate; empty: whom the system
                            // trusts
  std::string certificate;  // of the client, with its chain; empty: none
  std::string key;
  std::string server_name;  // what the server's certificate must name; empty: the host connected to
};

}  // namespace chipweave
