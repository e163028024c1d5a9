#include "node-agent/program.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/json_writer.hpp"
#include "common/http/loop.hpp"
#include "common/io/files.hpp"
#include "common/obs/log.hpp"
#include "common/tls/certificate_files.hpp"
#include "node-agent/app/agent.hpp"
#include "node-agent/reporting/reporting.hpp"
#include "node-agent/server/chip_metrics.hpp"
#include "node-agent/server/metrics_handler.hpp"
#include "node-agent/sources.hpp"
#include "node-agent/sources/file_watch.hpp"
#include "node-agent/supervisor/supervised_process.hpp"

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPoll{500};  // in addition to inotify, which misses sysfs and some mounts
constexpr milliseconds kPollUnwatched{250};  // where the kernel gives no inotify watch
constexpr milliseconds kStopWithin{1500};
// Exit codes, as the scheduler's.
constexpr int kCannotStart = 1;  // an address is taken, a file cannot be written
constexpr int kWrongUsage = 2;   // also a profile that does not exist
constexpr int kUnusable = 3;     // nothing to report, or a file that cannot be read

int fail(int code, const Error& error) {
  obs::log(obs::Level::error, "cannot start", {{"error", error.text()}});
  return code;
}

void log_fault(const FaultChange& change) {
  const domain::Fault& fault = change.fault;
  const bool cleared = change.kind == FaultChange::Kind::cleared;
  const bool serious = !cleared && fault.effect != domain::Effect::note;
  obs::log(serious ? obs::Level::warn : obs::Level::info,
           cleared                                    ? "fault cleared"
           : change.kind == FaultChange::Kind::raised ? "fault"
                                                      : "fault changed",
           {{"code", fault.code},
            {"effect", to_string(fault.effect)},
            {"where", place_of(fault)},
            {"what", fault.text}});
}

Result<void> open_metrics(const Flags& flags, MetricsHandler& handler,
                          std::shared_ptr<http::TlsContext> tls) {
  if (!flags.metrics) return {};
  if (!tls && !flags.metrics->is_loopback()) {
    obs::log(obs::Level::warn,
             "anyone can read this port: set --metrics-tls-cert and --metrics-tls-key, or listen "
             "on 127.0.0.1",
             {{"metrics", flags.metrics->text()}});
  }
  const auto port = handler.start(flags.metrics->host, flags.metrics->port, std::move(tls));
  if (!port) return Error(port.error());
  obs::log(obs::Level::info, "serving metrics", {{"port", static_cast<int>(*port)}});
  if (flags.port_file.empty()) return {};
  JsonWriter ports;
  ports.begin_object().field("metrics", *port).end_object();
  return io::write_file_atomically(flags.port_file, ports.take() + "\n");
}

}  // namespace

int run_agent(const Flags& flags) {
  obs::set_level(flags.log_level);
  adopt_orphans();
  const SystemClock clock;
  http::Loop loop;
  std::unique_ptr<tls::CertificateFiles> certificate;
  if (!flags.metrics_tls_cert.empty()) {
    auto opened =
        tls::CertificateFiles::open(clock, {flags.metrics_tls_cert, flags.metrics_tls_key, {}});
    if (!opened) return fail(kUnusable, opened.error());
    certificate = std::move(*opened);
  }
  std::function<void()> check_agent = [] {};
  auto sources =
      Sources::open(flags, [&loop, &check_agent] { loop.post([&check_agent] { check_agent(); }); });
  if (!sources) {
    const Errc code = sources.error().code;
    return fail(code == Errc::conflict           ? kCannotStart
                : code == Errc::invalid_argument ? kWrongUsage
                                                 : kUnusable,
                sources.error());
  }
  MetricsHandler metrics(loop);
  ChipMetricsPage chip_page(flags.node, codec::metrics_interval_of(flags.hardware), clock);
  metrics.set_page([&chip_page] { return chip_page.text(); });
  Reporting* reporting = nullptr;
  NodeStatePtr newest;
  AgentEvents events;
  events.warning = [](const std::string& text) {
    obs::log(obs::Level::warn, "probe warning", {{"what", text}});
  };
  events.fault = [&metrics, &reporting](const FaultChange& change) {
    log_fault(change);
    metrics.fault(change);
    if (reporting != nullptr) reporting->fault(change);
  };
  events.event = [&chip_page](const domain::Signal& event) { chip_page.event(event); };
  events.metrics = [&chip_page](const domain::MetricsSample& sample, const CarriedReport& carried) {
    chip_page.sample(sample, carried);
  };
  events.state = [&](const NodeStatePtr& state, bool urgent) {
    const bool first = std::exchange(newest, state) == nullptr;
    obs::log(obs::Level::info, first ? "machine found" : "state changed",
             {{"node", flags.node},
              {"machine", state->machine},
              {"chips", state->topology.chip_count()},
              {"unhealthy", state->topology.unhealthy().size()}});
    metrics.state(*state);
    chip_page.chips(state->topology, state->faults);
    if (reporting != nullptr) reporting->want(state, urgent);
  };
  Agent agent(
      {flags.node, flags.resources, (*sources)->policy(), flags.probe == ProbeKind::hardware},
      clock, (*sources)->machine(), (*sources)->health(), std::move(events));
  // Before anything starts that others can see: the loop runs when all of this is made.
  loop.on_terminate([&] {
    obs::log(obs::Level::info, "stopping");
    loop.after(kStopWithin, [&] { loop.stop(); });
    reporting->stop([&] { metrics.drain(milliseconds(500), [&] { loop.stop(); }); });
  });
  if (const auto ok = agent.start(); !ok)
    return fail(flags.probe == ProbeKind::profile ? kWrongUsage : kUnusable, ok.error());
  metrics.set_source([&agent, &sources, &reporting] {
    const SupervisorCounts process = (*sources)->supervisor_counts();
    ProbeFacts facts{agent.errors(), agent.age().count(), process.starts,
                     process.stuck,  process.crashed,     process.garbage};
    facts.blind = agent.blind();
    facts.measuring = (*sources)->measuring();
    if (const auto stats = reporting->event_stats()) {
      facts.events = EventCounts{stats->sent, stats->refused, stats->dropped};
    }
    if (const auto tables = reporting->rank_tables()) {
      facts.rank_tables = RankTableCounts{tables->initializing, tables->completed, tables->failed};
    }
    return facts;
  });

  ReporterEvents reporter;
  reporter.connected = [&metrics](bool yes) { metrics.connected(yes); };
  reporter.sent = [&metrics](ReportKind kind) { metrics.sent(name_of(kind)); };
  reporter.remembered = [&agent](domain::RememberedNode node) {
    agent.restore(std::move(node));
    agent.check();  // before the first write
  };
  reporter.contested = [&agent](const std::string& why) {
    agent.contested(why);
    agent.check();
  };
  OperatorCommands commands;
  commands.cordon = [&agent](Cordon cordon, bool complete) {
    agent.cordon(std::move(cordon), complete);
    agent.check();
  };
  commands.maintenance = [&agent](std::optional<std::string> reason) {
    agent.maintenance(std::move(reason));
    agent.check();
  };
  commands.clear_faults = [&agent](std::optional<domain::ChipIndex> chip) {
    agent.clear_faults(chip);
    agent.check();
  };
  KubeletEvents kubelet;
  kubelet.supported = [&metrics](bool yes) { metrics.kubelet_supported(yes); };
  kubelet.answers = [&metrics](bool yes) { metrics.kubelet_connected(yes); };
  kubelet.users = [&metrics, &chip_page](const ChipUsers& users) {
    metrics.in_use(users.chips.size());
    chip_page.owners(users.chips);
  };
  auto made = make_reporting(flags.reporting, loop, clock, std::move(reporter), std::move(commands),
                             std::move(kubelet));
  if (!made) {
    const bool no_pod = !flags.reporting.scheduler && flags.reporting.kubeconfig.empty() &&
                        made.error().code == Errc::invalid_argument;
    return fail(no_pod ? kWrongUsage : kUnusable, made.error());
  }
  reporting = made->get();
  std::shared_ptr<http::TlsContext> metrics_tls;
  if (certificate) {
    metrics_tls = certificate->context();
    loop.every(tls::kLookEvery, [&] { certificate->check(); });
  }
  if (const auto ok = open_metrics(flags, metrics, metrics_tls); !ok)
    return fail(kCannotStart, ok.error());
  reporting->recall();
  if (newest != nullptr) reporting->want(newest, true);
  check_agent = [&agent] { agent.check(); };
  const FileWatch watch((*sources)->files(), [&] { loop.post([&check_agent] { check_agent(); }); });
  loop.every(watch.complete() ? kPoll : kPollUnwatched, [&check_agent] { check_agent(); });
  obs::log(obs::Level::info, "agent started",
           {{"node", flags.node},
            {"machine", newest == nullptr ? "not known yet" : newest->machine},
            {"chips", newest == nullptr ? 0 : newest->topology.chip_count()}});
  loop.run();
  return 0;
}

}  // namespace chipweave::agent
