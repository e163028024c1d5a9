#include "cli/cluster/cluster_flags.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/cluster/api_server.hpp"
#include "cli/cluster/scheduler_service.hpp"
#include "cli/options.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/io/files.hpp"
#include "common/kube/access.hpp"

namespace chipweave::cli {
namespace {

std::string_view file_name(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  return path;
}

bool exists(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

std::optional<std::string> variable(const char* name) {
  auto value = kube::process_environment()(name);
  return value && !value->empty() ? value : std::nullopt;
}

Result<ChosenConfig> read_config(const std::string& file, const std::string& context) {
  const auto access = kube::load_access({file, context}, kube::process_environment());
  if (!access) return Error(access.error());
  return ChosenConfig{file, access->ns.empty() ? "default" : access->ns};
}

// kubectl merges the files; a context whose cluster or user is in another file is not found here.
Result<ChosenConfig> choose_of(const std::string& files, const std::string& context) {
  std::optional<Error> first;
  for (const std::string_view file : split(files, ':')) {
    if (file.empty() || !exists(std::string(file))) continue;
    auto config = read_config(std::string(file), context);
    if (config) return config;
    if (!first) first = config.error();
  }
  if (first) return *std::move(first);
  return make_error(Errc::not_found, "none of its files exists: " + files).in("KUBECONFIG");
}

}  // namespace

bool is_plugin(std::string_view program) {
  return file_name(program) == "kubectl-chipweave" || is_plugin_completion(program);
}

bool is_plugin_completion(std::string_view program) {
  return file_name(program) == "kubectl_complete-chipweave";
}

void add_cluster_options(CLI::App& command, ClusterFlags& flags) {
  add_value(command, "--kubeconfig", "FILE", flags.kubeconfig,
            "reach the scheduler through the API server of this kubeconfig");
  add_value(command, "--context", "NAME", flags.context,
            "context of the kubeconfig; default: its current one");
  add_value(command, "--scheduler-service", "NAMESPACE/NAME", flags.service,
            "Service of the scheduler; default: the one with the chart's label")
      ->check([](const std::string& text) {
        const bool two = std::count(text.begin(), text.end(), '/') == 1 && text.front() != '/' &&
                         text.back() != '/';
        return two ? "" : "expected NAMESPACE/NAME, got " + in_quotes(text);
      });
}

Result<ChosenConfig> choose_config(const ClusterFlags& flags) {
  if (!flags.kubeconfig.empty()) return read_config(flags.kubeconfig, flags.context);
  if (const auto files = variable("KUBECONFIG")) return choose_of(*files, flags.context);
  const auto home = variable("HOME");
  const std::string file = home.value_or("") + "/.kube/config";
  if (!exists(file))
    return make_error(
        Errc::not_found,
        "no kubeconfig: give --kubeconfig or set KUBECONFIG; there is no file " + file);
  return read_config(file, flags.context);
}

Result<Transport> connect_through_cluster(const ClusterFlags& flags, const ChosenConfig& config,
                                          const std::string& token_file) {
  auto connected = ApiServer::connect(config.file, flags.context);
  if (!connected) return std::move(connected).error();
  auto server = std::make_shared<ApiServer>(*std::move(connected));
  auto service = find_scheduler(*server, flags.service);
  if (!service) return std::move(service).error();
  std::string secret;
  if (token_file.empty()) {
    secret = reader_secret(*server, *service);
  } else {
    auto read = read_token(token_file);
    if (!read) return std::move(read).error();
    secret = *std::move(read);
  }
  // Not in a header: the API server removes Authorization from what it passes on.
  const std::string base = service->proxy_path() + (secret.empty() ? "" : "/callers/" + secret);
  return Transport([server, base, named = service->text(), ns = service->ns,
                    without_secret = secret.empty()](std::string_view method,
                                                     std::string_view target,
                                                     std::string_view body) -> Result<http::Reply> {
    auto reply = server->call(method, base + std::string(target), body);
    if (!reply) return std::move(reply).error();
    if (is_status(*reply)) {
      const bool refuses = reply->status == 401 || reply->status == 403;
      return make_error(Errc::unavailable,
                        concat("the API server ", refuses ? "refuses" : "cannot reach it", ": ",
                               message_of(*reply)))
          .in("scheduler " + named);
    }
    if (reply->status == 401 && without_secret)
      return make_error(Errc::unavailable,
                        concat("it requires the secret of a reader: give --token-file FILE, or the "
                               "user of the "
                               "kubeconfig the right to read the Secret of callers in namespace ",
                               ns))
          .in("scheduler " + named);
    return reply;
  });
}

}  // namespace chipweave::cli
