#include "node-agent/program.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "common/base/clock.hpp"
#include "common/http/loop.hpp"
#include "common/io/files.hpp"
#include "common/obs/log.hpp"
#include "common/tls/certificate_files.hpp"
#include "node-agent/app/agent.hpp"
#include "node-agent/doors/metrics_door.hpp"
#include "node-agent/probes/file_watch.hpp"
#include "node-agent/probes/health_file.hpp"
#include "node-agent/probes/machine_probe.hpp"
#include "node-agent/probes/sysfs_probe.hpp"
#include "node-agent/reporting.hpp"

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPoll{500};           // beside inotify: sysfs has no events, mounts may lie
constexpr milliseconds kPollUnwatched{250};  // where the kernel gives no inotify watch
constexpr milliseconds kStopWithin{1500};
// Exit codes, as the scheduler's.
constexpr int kCannotStart = 1;  // an address is taken, a file cannot be written
constexpr int kWrongUsage = 2;   // also a profile that there is not
constexpr int kUnusable = 3;     // nothing to report, or a file that cannot be read

std::unique_ptr<Probe> make_probe(const Flags& flags) {
  switch (flags.probe) {
    case ProbeKind::profile:
      return std::make_unique<MachineProbe>(MachineProbe::Source::profile, flags.probe_name);
    case ProbeKind::file:
      return std::make_unique<MachineProbe>(MachineProbe::Source::file, flags.probe_name);
    case ProbeKind::automatic:
      break;
  }
  return std::make_unique<SysfsProbe>("");
}

int fail(int code, const Error& error) {
  obs::log(obs::Level::error, "cannot start", {{"error", error.text()}});
  return code;
}

std::vector<std::string> watched_files(const Flags& flags) {
  std::vector<std::string> out;
  if (!flags.health_file.empty()) out.push_back(flags.health_file);
  if (flags.probe == ProbeKind::file) out.push_back(flags.probe_name);
  return out;
}

Result<void> open_metrics(const Flags& flags, MetricsDoor& door,
                          std::shared_ptr<http::TlsContext> tls) {
  if (!flags.metrics) return {};
  if (!tls && !flags.metrics->is_loopback()) {
    obs::log(obs::Level::warn,
             "anybody can read this port: give --metrics-tls-cert and --metrics-tls-key, or listen "
             "on 127.0.0.1",
             {{"metrics", flags.metrics->text()}});
  }
  const auto port = door.start(flags.metrics->host, flags.metrics->port, std::move(tls));
  if (!port) return Error(port.error());
  obs::log(obs::Level::info, "metrics", {{"port", static_cast<int>(*port)}});
  if (flags.port_file.empty()) return {};
  return io::write_file_atomically(flags.port_file,
                                   "{\"metrics\":" + std::to_string(*port) + "}\n");
}

}  // namespace

int run_agent(const Flags& flags) {
  obs::set_level(flags.log_level);
  const SystemClock clock;
  http::Loop loop;
  std::unique_ptr<tls::CertificateFiles> certificate;
  if (!flags.metrics_tls_cert.empty()) {
    auto opened =
        tls::CertificateFiles::open(clock, {flags.metrics_tls_cert, flags.metrics_tls_key, {}});
    if (!opened) return fail(kUnusable, opened.error());
    certificate = std::move(*opened);
  }
  const std::unique_ptr<Probe> probe = make_probe(flags);
  std::optional<HealthFile> health;
  if (!flags.health_file.empty()) health.emplace(flags.health_file);
  Agent agent({flags.node, flags.resources}, clock, *probe, health ? &*health : nullptr,
              [](const std::string& text) {
                obs::log(obs::Level::warn, "probe", {{"what", text}});
              });
  if (const auto ok = agent.start(); !ok)
    return fail(flags.probe == ProbeKind::profile ? kWrongUsage : kUnusable, ok.error());

  MetricsDoor metrics(loop, [&agent] { return ProbeFacts{agent.errors(), agent.age().count()}; });
  auto reporting = Reporting::make(flags, loop, clock,
                                   {[&metrics](bool yes) { metrics.connected(yes); },
                                    [&metrics](ReportKind kind) { metrics.sent(name_of(kind)); }});
  if (!reporting) {
    const bool no_pod =
        flags.kubeconfig.empty() && reporting.error().code == Errc::invalid_argument;
    return fail(no_pod ? kWrongUsage : kUnusable, reporting.error());
  }
  Reporter& reporter = (*reporting)->reporter();
  std::shared_ptr<http::TlsContext> metrics_tls;
  if (certificate) {
    metrics_tls = certificate->context();
    loop.every(tls::kLookEvery, [&] { certificate->check(); });
  }
  if (const auto ok = open_metrics(flags, metrics, metrics_tls); !ok)
    return fail(kCannotStart, ok.error());
  agent.on_state = [&](const NodeStatePtr& state) {
    obs::log(obs::Level::info, "state changed", {{"node", flags.node}});
    metrics.state(*state);
    reporter.want(state);
  };
  metrics.state(*agent.state());
  reporter.want(agent.state());
  reporter.start();

  const FileWatch watch(watched_files(flags), [&] { loop.post([&] { agent.check(); }); });
  loop.every(watch.complete() ? kPoll : kPollUnwatched, [&] { agent.check(); });
  loop.on_terminate([&] {
    obs::log(obs::Level::info, "stopping");
    loop.after(kStopWithin, [&] { loop.stop(); });
    reporter.stop([&] { metrics.drain(milliseconds(500), [&] { loop.stop(); }); });
  });
  obs::log(obs::Level::info, "agent started",
           {{"node", flags.node},
            {"machine", agent.state()->machine},
            {"chips", agent.state()->topology.chip_count()}});
  loop.run();
  return 0;
}

}  // namespace chipweave::agent
