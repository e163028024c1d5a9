// TlsContext — what a server shows and asks for in TLS handshakes: certificate, key, and who may
// have signed the clients' certificates. TLS 1.2 at least, HTTP/1.1 only, no renegotiation.
//
// Owner: the loop thread. It may be replaced while the server runs: connections from then on get
// the new one, those that are open go on as they are.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"

struct ssl_ctx_st;

namespace chipweave::http {

// What errors call the parts: names of files, mostly.
struct PemNames {
  std::string certificate = "the certificate";
  std::string key = "the key";
  std::string client_ca = "the client CA";
};

class TlsContext {
 public:
  using Wall = std::chrono::system_clock::time_point;

  // invalid_argument: a part that is no PEM, a key of another certificate.
  static Result<std::shared_ptr<TlsContext>> make(const ServerPem& pem, const PemNames& names = {});
  // Becomes the same as `next`.
  void replace(const TlsContext& next) { now_ = next.now_; }

  // Until when the certificate in use is valid.
  Wall not_after() const { return now_.not_after; }
  bool asks_clients() const { return now_.asks_clients; }
  // OpenSSL's, for this folder.
  ssl_ctx_st* native() const { return now_.context.get(); }

 private:
  struct Built {
    std::shared_ptr<ssl_ctx_st> context;
    Wall not_after;
    bool asks_clients = false;
  };
  explicit TlsContext(Built built) : now_(std::move(built)) {}
  static Result<Built> build(const ServerPem& pem, const PemNames& names);
  Built now_;
};

// Whether a client can go on with these: invalid_argument if the authority is none, or the key is
// not that of the certificate.
Result<void> check_client_pem(const ClientPem& pem);

}  // namespace chipweave::http
