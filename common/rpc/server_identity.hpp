// ServerIdentity — the certificate that a gRPC server shows, replaceable while it runs:
// connections from then on get the new one.
//
// Any thread. With a client authority, clients without a valid certificate are refused; whether
// there is one is settled when the server starts.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "common/base/tls_pem.hpp"

namespace chipweave::rpc {

class ServerIdentity {
 public:
  // pem: checked before; gRPC says no more than that a handshake failed.
  explicit ServerIdentity(ServerPem pem) : pem_(std::move(pem)) {}
  ServerIdentity(const ServerIdentity&) = delete;
  ServerIdentity& operator=(const ServerIdentity&) = delete;

  void replace(ServerPem pem);

  // For the one server that uses it: what it does not have yet.
  std::optional<ServerPem> take_news();
  bool asks_clients() const;

 private:
  mutable std::mutex mutex_;
  ServerPem pem_;
  bool taken_ = false;
};

}  // namespace chipweave::rpc
