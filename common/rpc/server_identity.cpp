#include "common/rpc/server_identity.hpp"

#include <string>
#include <utility>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

namespace chipweave::rpc {
namespace {

// gRPC's C++ API cannot change a certificate without its experimental providers, which read files
// themselves and may return a mismatched pair. The C API calls back before each handshake.
class FetchedCredentials final : public grpc::ServerCredentials {
 public:
  explicit FetchedCredentials(grpc_server_credentials* credentials) : credentials_(credentials) {}
  ~FetchedCredentials() override { grpc_server_credentials_release(credentials_); }

  // Call handlers check the metadata themselves.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* credentials_;
};

grpc_ssl_certificate_config_reload_status fetch(void* identity,
                                                grpc_ssl_server_certificate_config** config) {
  const auto news = static_cast<ServerIdentity*>(identity)->take_news();
  if (!news) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{news->key.c_str(), news->certificate.c_str()};
  // gRPC 1.51 wants an authority here even if it asks for no client certificate and uses none.
  const std::string& authority = news->client_ca.empty() ? news->certificate : news->client_ca;
  *config = grpc_ssl_server_certificate_config_create(authority.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace

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

std::shared_ptr<grpc::ServerCredentials> ServerIdentity::credentials() {
  const auto clients = asks_clients() ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                      : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return std::make_shared<FetchedCredentials>(grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(clients, &fetch, this)));
}

}  // namespace chipweave::rpc
