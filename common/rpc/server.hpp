// Starting a gRPC server with the project's limits: message size, streams per connection,
// keep-alive enforcement.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/server.h>

#include "common/base/endpoint.hpp"
#include "common/base/limits.hpp"

namespace chipweave::rpc {

class ServerIdentity;

struct ServerLimits {
  // Messages and connections together. gRPC slows down and resets streams above it, but does not
  // guarantee it.
  std::size_t max_held_bytes = limits::kMaxGrpcHeldBytes;
  int max_message_bytes = static_cast<int>(limits::kMaxGrpcMessageBytes);
  int max_streams_per_connection = 1000;
  // After this time a connection takes no new calls; running calls continue. A Service balances
  // connections, not calls, so only a new connection can reach another replica.
  std::chrono::milliseconds max_connection_age = std::chrono::seconds(30);
  // Clients that ping more often are disconnected. channel.cpp pings less often than this.
  std::chrono::milliseconds least_ping_interval = std::chrono::seconds(5);
};

struct Services {
  std::vector<grpc::Service*> typed;
  // Gets the calls of all other methods, before their messages are read; may be null.
  grpc::CallbackGenericService* others = nullptr;
};

struct StartedServer {
  std::unique_ptr<grpc::Server> server;
  std::uint16_t port = 0;
};

// Binds and serves; port 0: any free one; tls: null for plain TCP. Services and tls must
// outlive the server. Errors: unavailable when the address cannot be bound (taken, not local).
// A port that another process listens on is never shared.
Result<StartedServer> start_server(const Endpoint& endpoint, const Services& services,
                                   const ServerLimits& limits = {}, ServerIdentity* tls = nullptr);

}  // namespace chipweave::rpc
