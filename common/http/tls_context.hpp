// TlsContext — the TLS configuration of a server: certificate, key and client CA. TLS 1.2 or later,
// HTTP/1.1 only, no renegotiation.
//
// Owner: the loop thread. It may be replaced while the server runs: new connections get the new
// configuration, open ones continue unchanged.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"

struct ssl_ctx_st;

namespace chipweave::http {

// Names of the parts in error messages, usually file names.
struct PemNames {
  std::string certificate = "the certificate";
  std::string key = "the key";
  std::string client_ca = "the client CA";
};

class TlsContext {
 public:
  using Wall = std::chrono::system_clock::time_point;

  // Errors: invalid_argument if a part is not valid PEM or the key does not match the certificate.
  static Result<std::shared_ptr<TlsContext>> make(const ServerPem& pem, const PemNames& names = {});
  // Becomes the same as `next`.
  void replace(const TlsContext& next) { *this = next; }

  // Until when the certificate in use is valid.
  Wall not_after() const { return not_after_; }
  bool asks_clients() const { return asks_clients_; }
  // OpenSSL's, for this folder.
  ssl_ctx_st* native() const { return context_.get(); }

 private:
  TlsContext() = default;
  std::shared_ptr<ssl_ctx_st> context_;
  Wall not_after_;
  bool asks_clients_ = false;
};

// Errors: invalid_argument if the CA is not a certificate or the key does not match the
// certificate.
Result<void> check_client_pem(const ClientPem& pem);

}  // namespace chipweave::http
