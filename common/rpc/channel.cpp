#include "common/rpc/channel.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "common/base/limits.hpp"

namespace chipweave::rpc {
namespace {

grpc::ChannelArguments common_arguments(std::size_t max_message_bytes) {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(static_cast<int>(max_message_bytes));
  args.SetMaxSendMessageSize(static_cast<int>(max_message_bytes));
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL,
              1);  // shared ones remember the back-off of others
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY,
              0);  // a proxy of the environment never lies before the scheduler
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
              5000);  // also the time one connection attempt may take
  return args;
}

}  // namespace

std::shared_ptr<grpc::Channel> make_channel(const Endpoint& endpoint,
                                            const std::optional<ClientPem>& tls) {
  grpc::ChannelArguments args = common_arguments(limits::kMaxGrpcMessageBytes);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10000);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  if (!tls)
    return grpc::CreateCustomChannel(endpoint.text(), grpc::InsecureChannelCredentials(), args);
  if (!tls->server_name.empty()) args.SetSslTargetNameOverride(tls->server_name);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = tls->ca;
  options.pem_cert_chain = tls->certificate;
  options.pem_private_key = tls->key;
  return grpc::CreateCustomChannel(endpoint.text(), grpc::SslCredentials(options), args);
}

std::shared_ptr<grpc::Channel> make_socket_channel(const std::string& path,
                                                   std::size_t max_message_bytes) {
  return grpc::CreateCustomChannel("unix:" + path, grpc::InsecureChannelCredentials(),
                                   common_arguments(max_message_bytes));
}

std::shared_ptr<grpc::Channel> make_eager_socket_channel(const std::string& path,
                                                         std::size_t max_message_bytes) {
  grpc::ChannelArguments args = common_arguments(max_message_bytes);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel("unix:" + path, grpc::InsecureChannelCredentials(), args);
}

}  // namespace chipweave::rpc
