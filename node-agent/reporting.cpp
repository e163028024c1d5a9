#include "node-agent/reporting.hpp"

#include <random>
#include <utility>

#include "common/kube/access.hpp"
#include "common/obs/log.hpp"
#include "common/tls/client_files.hpp"
#include "node-agent/publish/boot_id.hpp"
#include "node-agent/publish/grpc_reporter.hpp"
#include "node-agent/publish/kube_reporter.hpp"

namespace chipweave::agent {
namespace {

Result<ClientPem> read_tls(const Flags& flags) {
  return tls::read_client_files({flags.tls_ca, flags.tls_cert, flags.tls_key},
                                flags.tls_server_name);
}

}  // namespace

Result<std::unique_ptr<Reporting>> Reporting::make(const Flags& flags, http::Loop& loop,
                                                   const Clock& clock, ReporterEvents events) {
  auto out = std::make_unique<Reporting>();
  if (!flags.scheduler) {
    if (auto ok = out->use_cluster(flags, loop, clock, std::move(events)); !ok)
      return std::move(ok).error();
    return out;
  }
  if (!flags.tls_ca.empty()) {
    if (const auto ok = read_tls(flags); !ok) return ok.error();
  } else if (!flags.scheduler->is_loopback()) {
    obs::log(obs::Level::warn,
             "the scheduler is spoken to in the clear: start it with --tls-cert, and give --tls-ca "
             "here",
             {{"scheduler", flags.scheduler->text()}});
  }
  GrpcReporterOptions options;
  if (!flags.tls_ca.empty()) options.tls = [flags] { return read_tls(flags); };
  options.scheduler = flags.scheduler->text();
  options.node = flags.node;
  options.boot_id = make_boot_id();
  options.seed = std::random_device{}();
  out->reporter_ = std::make_unique<GrpcReporter>(loop, std::move(options), std::move(events));
  return out;
}

Result<void> Reporting::use_cluster(const Flags& flags, http::Loop& loop, const Clock& clock,
                                    ReporterEvents events) {
  auto access = kube::load_access({flags.kubeconfig, ""}, kube::process_environment());
  if (!access) return std::move(access).error();
  KubeReporterOptions options;
  options.node = flags.node;
  options.boot_id = make_boot_id();
  options.node_boot_id = node_boot_id();
  options.seed = std::random_device{}();
  options.lease_namespace = flags.lease_namespace.empty() ? access->ns : flags.lease_namespace;
  if (options.lease_namespace.empty()) options.lease_namespace = "default";
  if (const auto ok = check_lease_namespace(options.lease_namespace); !ok) {
    return make_error(Errc::invalid_argument, "the namespace of the pod or kubeconfig " +
                                                  ok.error().text() +
                                                  "; name one with --lease-namespace");
  }
  obs::log(obs::Level::info, "api server",
           {{"host", access->origin.host},
            {"port", access->origin.port},
            {"lease", options.lease_namespace + "/" + options.node}});
  auto client = kube::ApiClient::make(loop, std::move(access).value(),
                                      std::string("chipweave-agent/") + CHIPWEAVE_VERSION);
  if (!client) return std::move(client).error();
  api_ = std::move(client).value();
  reporter_ = std::make_unique<KubeReporter>(*api_, clock, options, std::move(events));
  return {};
}

}  // namespace chipweave::agent
