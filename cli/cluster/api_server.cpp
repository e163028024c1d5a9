#include "cli/cluster/api_server.hpp"

#include <chrono>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/io/files.hpp"
#include "common/kube/access.hpp"
#include "common/tls/client_files.hpp"

namespace chipweave::cli {
namespace {

constexpr std::size_t kMaxTokenBytes = 65536;

Result<ClientPem> pem_of(const kube::ApiAccess& access) {
  ClientPem pem = access.origin.pem;
  const tls::ClientFiles& files = access.files;
  if (files.ca.empty() && files.certificate.empty() && files.key.empty()) return pem;
  auto read = tls::read_client_files(files, pem.server_name);
  if (!read) return std::move(read).error();
  if (!files.ca.empty()) pem.ca = read->ca;
  if (!files.certificate.empty()) pem.certificate = read->certificate;
  if (!files.key.empty()) pem.key = read->key;
  return pem;
}

Result<std::string> token_of(const kube::ApiAccess& access) {
  if (!access.token.empty() || access.token_file.empty()) return access.token;
  auto text = io::read_file(access.token_file, kMaxTokenBytes);
  if (!text) return std::move(text).error();
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text;
}

}  // namespace

Result<ApiServer> ApiServer::connect(const std::string& kubeconfig, const std::string& context) {
  auto access = kube::load_access({kubeconfig, context}, kube::process_environment());
  if (!access) return std::move(access).error();
  if (access->origin.tls && !access->origin.verify)
    return make_error(Errc::unsupported,
                      "insecure-skip-tls-verify is not supported: give the cluster's CA")
        .in(kubeconfig);
  auto pem = pem_of(*access);
  if (!pem) return std::move(pem).error();
  const auto token = token_of(*access);
  if (!token) return Error(token.error());
  const bool v6 = access->origin.host.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + access->origin.host + "]" : access->origin.host;
  std::string url =
      concat(access->origin.tls ? "https://" : "http://", host, ":", access->origin.port);
  auto client = http::Client::connect_to(url, *pem, *token);
  if (!client) return std::move(client).error().in("API server " + url);
  return ApiServer(*std::move(client), std::move(url), access->prefix);
}

Result<http::Reply> ApiServer::call(std::string_view method, const std::string& target,
                                    std::string_view body) {
  auto reply = client_.call(method, prefix_ + target, body, std::chrono::seconds(30));
  if (!reply) return std::move(reply).error().in("API server " + url_);
  return reply;
}

std::string message_of(const http::Reply& reply) {
  const auto tree = codec::parse_json(reply.body);
  const std::string_view message =
      tree ? codec::JsonValue(*tree)["message"].text() : std::string_view();
  return message.empty() ? "HTTP " + std::to_string(reply.status) : std::string(message);
}

}  // namespace chipweave::cli
