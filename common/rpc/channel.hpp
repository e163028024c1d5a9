// Client channels with the project's limits and with no back-off of their own: whoever connects
// decides when to try again.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <grpcpp/channel.h>

#include "common/base/endpoint.hpp"
#include "common/base/tls_pem.hpp"

namespace chipweave::rpc {

// tls: absent for a connection in the clear (loopback or a trusted network). Each channel has its
// own connection; nothing is sent before the first call. A dead peer is noticed within about 15 s
// by keep-alive pings.
std::shared_ptr<grpc::Channel> make_channel(const Endpoint& endpoint,
                                            const std::optional<ClientPem>& tls = std::nullopt);

// To a Unix socket of this machine; path: checked before (check_socket_path). No keep-alive pings:
// servers written in Go end connections that ping more often than every five minutes. So give each
// call a deadline.
std::shared_ptr<grpc::Channel> make_socket_channel(const std::string& path,
                                                   std::size_t max_message_bytes);

}  // namespace chipweave::rpc
