#include "common/rpc/server_identity.hpp"

namespace chipweave::rpc {

void ServerIdentity::replace(ServerPem pem) {
  const std::lock_guard lock(mutex_);
  pem_ = std::move(pem);
  taken_ = false;
}

std::optional<ServerPem> ServerIdentity::take_news() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(taken_, true)) return std::nullopt;
  return pem_;
}

bool ServerIdentity::asks_clients() const {
  const std::lock_guard lock(mutex_);
  return !pem_.client_ca.empty();
}

}  // namespace chipweave::rpc
