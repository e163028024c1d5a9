#include "common/kube/access.hpp"

#include <cstdlib>
#include <filesystem>
#include <tuple>
#include <utility>

#include "common/base/endpoint.hpp"
#include "common/base/limits.hpp"
#include "common/codec/kube/kubeconfig.hpp"
#include "common/io/files.hpp"

namespace chipweave::kube {
namespace {

// "https://host:port/prefix", IPv6 in brackets.
Result<void> read_server(const std::string& url, ApiAccess& to) {
  const std::size_t scheme = url.find("://");
  to.origin.tls = url.substr(0, scheme) == "https";
  std::string rest = url.substr(scheme + 3);
  if (const std::size_t slash = rest.find('/'); slash != std::string::npos) {
    to.prefix = rest.substr(slash);
    rest.erase(slash);
  }
  const std::size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string::npos && rest.find(']', colon) == std::string::npos;
  if (!has_port) rest += to.origin.tls ? ":443" : ":80";
  auto address = parse_endpoint(rest, PortZero::refused);
  if (!address) return std::move(address).error().in("server");
  to.origin.host = std::move(address->host);
  to.origin.port = std::to_string(address->port);
  return {};
}

std::string beside(const std::string& kubeconfig, const std::string& file) {
  return file.empty() ? file : (std::filesystem::path(kubeconfig).parent_path() / file).string();
}

// Without a file, `to` stays as it is.
Result<void> read_pem(const std::string& file, std::string& to) {
  if (file.empty()) return {};
  auto text = io::read_file(file, limits::kMaxCredentialBytes);
  if (!text) return std::move(text).error();
  to = std::move(*text);
  return {};
}

Result<ApiAccess> from_kubeconfig(const AccessOptions& options) {
  const auto text = io::read_file(options.kubeconfig, limits::kMaxKubeconfigBytes);
  if (!text) return text.error();
  auto config = codec::read_kubeconfig(*text, options.context);
  if (!config) return std::move(config).error().in("file " + options.kubeconfig);
  ApiAccess access;
  if (auto done = read_server(config->server, access); !done)
    return std::move(done).error().in("file " + options.kubeconfig);
  access.origin.pem.server_name = config->tls_server_name;
  access.origin.verify = !config->insecure;
  http::Origin& origin = access.origin;
  for (auto& [from, to, file] :
       {std::tuple{&config->ca, &origin.pem.ca, &access.files.ca},
        {&config->client_certificate, &origin.pem.certificate, &access.files.certificate},
        {&config->client_key, &origin.pem.key, &access.files.key}}) {
    *to = std::move(from->pem);
    *file = beside(options.kubeconfig, from->file);
    if (const auto read = read_pem(*file, *to); !read) return Error(read.error());
  }
  access.token = std::move(config->token);
  access.token_file = beside(options.kubeconfig, config->token_file);
  access.ns = std::move(config->ns);
  return access;
}

Result<ApiAccess> from_pod(const Environment& environment, const std::string& folder) {
  const auto host = environment("KUBERNETES_SERVICE_HOST");
  const auto port = environment("KUBERNETES_SERVICE_PORT");
  if (!host || host->empty() || !port || port->empty()) {
    return make_error(
        Errc::invalid_argument,
        "a kubeconfig is required: this is not a pod (KUBERNETES_SERVICE_HOST is not set)");
  }
  ApiAccess access;
  access.origin.host = *host;
  access.origin.port = *port;
  access.files.ca = folder + "/ca.crt";
  if (const auto read = read_pem(access.files.ca, access.origin.pem.ca); !read) {
    return Error(read.error());
  }
  access.token_file = folder + "/token";
  if (auto name = io::read_file(folder + "/namespace", limits::kMaxCredentialBytes))
    access.ns = std::move(*name);
  return access;
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value =
        std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set by this process
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Result<ApiAccess> load_access(const AccessOptions& options, const Environment& environment,
                              const std::string& service_account) {
  return options.kubeconfig.empty() ? from_pod(environment, service_account)
                                    : from_kubeconfig(options);
}

}  // namespace chipweave::kube
