#include "node-agent/reporting/standalone_reporting.hpp"

#include <random>
#include <utility>

#include "common/obs/log.hpp"
#include "common/tls/client_files.hpp"
#include "node-agent/publish/boot_id.hpp"

namespace chipweave::agent {
namespace {

Result<ClientPem> read_tls(const ReportingOptions& options) {
  return tls::read_client_files({options.tls_ca, options.tls_cert, options.tls_key},
                                options.tls_server_name);
}

}  // namespace

Result<std::unique_ptr<StandaloneReporting>> StandaloneReporting::make(
    const ReportingOptions& options, http::Loop& loop, ReporterEvents events) {
  if (!options.tls_ca.empty()) {
    if (const auto ok = read_tls(options); !ok) return ok.error();
  } else if (!options.scheduler->is_loopback()) {
    obs::log(
        obs::Level::warn,
        "reports go to the scheduler unencrypted: start it with --tls-cert, and set --tls-ca here",
        {{"scheduler", options.scheduler->text()}});
  }
  GrpcReporterOptions reporter;
  if (!options.tls_ca.empty()) reporter.tls = [options] { return read_tls(options); };
  reporter.scheduler = options.scheduler->text();
  reporter.node = options.node;
  reporter.boot_id = make_boot_id();
  reporter.seed = std::random_device{}();
  return std::make_unique<StandaloneReporting>(loop, std::move(reporter), std::move(events));
}

void StandaloneReporting::want(const NodeStatePtr& state, bool urgent) {
  reporter_.want(state, urgent);
  if (!std::exchange(started_, true)) reporter_.start();
}

}  // namespace chipweave::agent
