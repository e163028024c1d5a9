// Server name verification of TLS clients. Internal to this folder.
#pragma once

#include <string>

struct ssl_st;

namespace chipweave::http {

// Before the handshake: the peer's certificate must be for `name`, a DNS name or an address; only a
// DNS name is also sent to the server (RFC 6066). Without verification the certificate is not
// checked.
void expect_server_name(ssl_st* ssl, const std::string& name);

// After a failed handshake: " (reason)" if the peer's certificate was rejected, otherwise "".
std::string distrust(const ssl_st* ssl);

}  // namespace chipweave::http
