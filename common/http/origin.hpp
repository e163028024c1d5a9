// Origin — a server that an AsyncClient speaks to, and how it and the client prove who they are.
#pragma once

#include <string>

namespace chipweave::http {

struct Origin {
  std::string host;  // name or address, IPv6 without brackets
  std::string port;
  bool tls = true;
  std::string server_name;      // what the server's certificate must name; empty: host
  std::string ca_pem;           // who may have signed it; empty: whom the system trusts
  bool verify = true;           // false: any certificate will do; for test beds only
  std::string certificate_pem;  // of the client, with its chain; empty: none
  std::string key_pem;
};

}  // namespace chipweave::http
