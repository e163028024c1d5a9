// ServerIdentity — the certificate that a gRPC server presents. It can be replaced while the server
// runs; new connections get the new one.
//
// Any thread. It must outlive the server. With a client CA, clients without a valid certificate are
// refused; whether there is a client CA cannot change after the start.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/tls_pem.hpp"

namespace grpc {
class ServerCredentials;
}

namespace chipweave::rpc {

class ServerIdentity {
 public:
  // pem: must have been validated, because gRPC only reports that a handshake failed.
  explicit ServerIdentity(ServerPem pem) : pem_(std::move(pem)) {}
  ServerIdentity(const ServerIdentity&) = delete;
  ServerIdentity& operator=(const ServerIdentity&) = delete;

  void replace(ServerPem pem);

  // For the server that uses it: credentials that present the current certificate.
  std::shared_ptr<grpc::ServerCredentials> credentials();
  // The certificate, if it was replaced since the last call.
  std::optional<ServerPem> take_news();

 private:
  bool asks_clients() const;

  mutable std::mutex mutex_;
  ServerPem pem_;
  bool taken_ = false;
};

}  // namespace chipweave::rpc
