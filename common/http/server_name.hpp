// Whom a TLS client means to reach, and why it did not believe who answered. Internal to this
// folder.
#pragma once

#include <string>

struct ssl_st;

namespace chipweave::http {

// Before the handshake: the peer's certificate must be for `name`, a DNS name or an address; only a
// DNS name is also sent to the server (RFC 6066). Without verification the former has no effect.
void expect_server_name(ssl_st* ssl, const std::string& name);

// After a handshake that failed: " (reason)" if it was for the peer's certificate, else "".
std::string distrust(const ssl_st* ssl);

}  // namespace chipweave::http
