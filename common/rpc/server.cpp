#include "common/rpc/server.hpp"

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>

#include "common/base/limits.hpp"
#include "common/rpc/server_identity.hpp"

namespace chipweave::rpc {

Result<StartedServer> start_server(const Endpoint& endpoint, const Services& services,
                                   const ServerLimits& limits, ServerIdentity* tls) {
  grpc::ServerBuilder builder;
  int chosen = 0;
  builder.AddListeningPort(endpoint.text(),
                           tls ? tls->credentials() : grpc::InsecureServerCredentials(), &chosen);
  builder.SetResourceQuota(grpc::ResourceQuota("server").Resize(limits.max_held_bytes));
  builder.SetMaxReceiveMessageSize(limits.max_message_bytes);
  builder.SetMaxSendMessageSize(limits.max_message_bytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, limits::kMaxGrpcMetadataBytes);
  // gRPC unpacks a message before it looks at its size: 4 MB of gzip may be gigabytes.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  // A window that grows with the bandwidth would let callers fill memory before they are checked.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, limits::kGrpcUnreadBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.max_streams_per_connection);
  // gRPC's default lets a second process bind the same port and take half of the agents.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  const auto milliseconds = [](std::chrono::milliseconds t) { return static_cast<int>(t.count()); };
  // Idle dead peers are found by our own pings.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             milliseconds(limits.least_ping_interval));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             milliseconds(limits::kGrpcHandshakeTimeout));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             milliseconds(limits::kGrpcIdleTimeout));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                             milliseconds(limits.max_connection_age));
  for (grpc::Service* service : services.typed) builder.RegisterService(service);
  if (services.others != nullptr) builder.RegisterCallbackGenericService(services.others);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  // On failure gRPC gives a null server, or one that listens nowhere.
  if (server == nullptr || chosen <= 0) {
    return make_error(Errc::unavailable, "cannot listen on " + endpoint.text() +
                                             " (taken, or not an address of this machine)");
  }
  return StartedServer{std::move(server), static_cast<std::uint16_t>(chosen)};
}

}  // namespace chipweave::rpc
