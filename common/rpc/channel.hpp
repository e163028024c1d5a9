// A client channel with the project's limits and with no back-off of its own: whoever connects
// decides when to try again.
#pragma once

#include <memory>
#include <optional>

#include <grpcpp/channel.h>

#include "common/base/endpoint.hpp"
#include "common/base/tls_pem.hpp"

namespace chipweave::rpc {

// tls: absent for a connection in the clear (loopback or a trusted network). Each channel has its
// own connection; nothing is sent before the first call. A dead peer is noticed within about 15 s
// by keep-alive pings.
std::shared_ptr<grpc::Channel> make_channel(const Endpoint& endpoint,
                                            const std::optional<ClientPem>& tls = std::nullopt);

}  // namespace chipweave::rpc
