// gRPC client channels with the project's limits. They have no back-off of their own; the caller
// decides when to retry.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <grpcpp/channel.h>

#include "common/base/endpoint.hpp"
#include "common/base/tls_pem.hpp"

namespace chipweave::rpc {

// tls: absent for plain TCP (loopback or a trusted network). Each channel has its own connection;
// nothing is sent before the first call. Keep-alive pings detect a dead peer within about 15 s.
std::shared_ptr<grpc::Channel> make_channel(const Endpoint& endpoint,
                                            const std::optional<ClientPem>& tls = std::nullopt);

// Channel to a local Unix socket. Precondition: check_socket_path(path). Without keep-alive pings,
// because Go servers close connections that ping more often than every five minutes; give each call
// a deadline instead.
std::shared_ptr<grpc::Channel> make_socket_channel(const std::string& path,
                                                   std::size_t max_message_bytes);

// The same for calls that wait until the peer is there: it is tried again every tenth of a second
// at the latest, however long it was away.
std::shared_ptr<grpc::Channel> make_eager_socket_channel(const std::string& path,
                                                         std::size_t max_message_bytes);

}  // namespace chipweave::rpc
