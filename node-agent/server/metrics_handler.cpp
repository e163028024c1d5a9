#include "node-agent/server/metrics_handler.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "common/base/text.hpp"
#include "common/http/server.hpp"
#include "common/obs/metrics.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using domain::LinkState;

constexpr std::size_t kMaxCodes = 256;
constexpr const char* kText = "text/plain; charset=utf-8";

struct Tally {
  std::array<int, 3> links{};  // by LinkState
  int lanes_up = 0;
  int lanes_down = 0;
  void add(int lanes, int down) {
    const LinkState state =
        down == 0 ? LinkState::up : (down >= lanes ? LinkState::down : LinkState::degraded);
    ++links[static_cast<std::size_t>(state)];
    lanes_up += lanes - down;
    lanes_down += down;
  }
};

std::map<LinkKind, Tally> tally(const domain::NodeTopology& t) {
  std::map<LinkKind, Tally> out;
  for (const domain::DirectLink& l : t.links()) out[l.kind].add(l.lanes, l.lanes_down);
  for (const domain::Switch& s : t.switches()) {
    for (const domain::SwitchPort& p : s.ports) out[s.kind].add(p.lanes, p.lanes_down);
  }
  return out;
}

}  // namespace

struct MetricsHandler::Impl {
  explicit Impl(http::Loop& l)
      : loop(l),
        chips(registry.gauge("chipweave_agent_chips", "Chips of this node by health.")),
        links(registry.gauge("chipweave_agent_links",
                             "Fast links and switch ports of this node by kind and state.")),
        lanes(registry.gauge("chipweave_agent_link_lanes",
                             "Lanes of fast links and switch ports by kind and state.")),
        errors(registry
                   .counter("chipweave_agent_probe_errors_total",
                            "Times a probe or the health file could not be used.")
                   .with()),
        age(registry
                .gauge("chipweave_agent_probe_age_seconds",
                       "Time since the sources last confirmed what this agent reports.")
                .with()),
        reports(registry.counter("chipweave_agent_reports_sent_total",
                                 "Reports sent by kind. To an API server: full is a write of the "
                                 "inventory, heartbeat a renewal of the lease.")),
        link_up(registry
                    .gauge("chipweave_agent_connected",
                           "1 while the scheduler or API server accepts this agent's reports.")
                    .with()),
        faults(registry.gauge("chipweave_agent_faults",
                              "Active faults of this node by code and effect.")),
        fault_events(registry.counter("chipweave_agent_fault_events_total",
                                      "Faults raised, changed and cleared, by code.")),
        supported(registry.gauge("chipweave_agent_kubelet_supported",
                                 "1 if the kubelet is asked which chips pods use, 0 if its version "
                                 "is too old.")),
        kubelet(registry.gauge("chipweave_agent_kubelet_connected",
                               "1 while the kubelet reports which chips pods use.")),
        used(registry.gauge("chipweave_agent_chips_in_use",
                            "Chips that pods use, as the kubelet reported last.")),
        works(registry
                  .gauge("chipweave_agent_probe_working",
                         "1 while the hardware responds; 0: what this agent reports is not "
                         "confirmed, and its chips are not offered.")
                  .with()),
        measuring(registry
                      .gauge("chipweave_agent_measuring",
                             "1 while the probe process measures the chips; 0: never, or not for "
                             "an hour after a measurement failed.")
                      .with()),
        starts(registry
                   .counter("chipweave_agent_probe_starts_total",
                            "Starts of the probe process, which calls the drivers.")
                   .with()),
        ends(registry.counter("chipweave_agent_probe_ends_total",
                              "Probe processes that failed, by reason.")) {
    link_up.set(0);
    for (const char* kind : {"full", "delta", "heartbeat"}) reports.with({{"kind", kind}}).add(0);
    for (const char* reason : {"stuck", "crashed", "garbage"})
      ends.with({{"reason", reason}}).add(0);
  }

  // Drivers make up codes (XIDs and the like): only the first few hundred get a series.
  std::string label(const std::string& code) {
    if (codes.size() < kMaxCodes) codes.insert(code);
    return codes.contains(code) ? code : "other";
  }

  void show_faults(const NodeState& state) {
    std::map<std::pair<std::string, std::string>, int> now;
    for (const domain::Fault& f : state.faults) {
      ++now[{label(f.code), std::string(to_string(f.effect))}];
    }
    for (const auto& [key, before] : faults_shown) {
      if (!now.contains(key)) faults.remove({{"code", key.first}, {"effect", key.second}});
    }
    for (const auto& [key, count] : now) {
      faults.with({{"code", key.first}, {"effect", key.second}}).set(count);
    }
    faults_shown = std::move(now);
  }

  // Raises the counter to the value that another component counts.
  static void follow(obs::Counter counter, std::uint64_t now, std::uint64_t& shown) {
    counter.add(static_cast<double>(now - shown));
    shown = now;
  }

  void show_events(const EventCounts& now) {
    auto& events =
        registry.counter("chipweave_agent_events_total", "Events of the Node by result.");
    follow(events.with({{"result", "sent"}}), now.sent, shown_events.sent);
    follow(events.with({{"result", "refused"}}), now.refused, shown_events.refused);
    follow(events.with({{"result", "dropped"}}), now.dropped, shown_events.dropped);
  }

  void show_rank_tables(const RankTableCounts& now) {
    auto& tables = registry.gauge("chipweave_agent_rank_table_files",
                                  "Rank tables of jobs with pods on this node, kept as files.");
    tables.with({{"state", "initializing"}}).set(static_cast<double>(now.initializing));
    tables.with({{"state", "completed"}}).set(static_cast<double>(now.completed));
    tables.with({{"state", "failed"}}).set(static_cast<double>(now.failed));
  }

  http::Response answer(const http::Request& request) {
    if (request.method != "GET" && request.method != "HEAD") {
      return {405, "only GET and HEAD are supported\n", kText, "GET, HEAD"};
    }
    if (request.path == "/healthz") return {200, "ok\n", kText, {}};
    if (request.path == "/readyz") {
      const std::string blind = probe().blind;
      return blind.empty() ? http::Response{200, "ok\n", kText, {}}
                           : http::Response{503, blind + "\n", kText, {}};
    }
    if (request.path != "/metrics")
      return {404, "not found; known: /metrics, /healthz, /readyz\n", kText, {}};
    const ProbeFacts facts = probe();
    works.set(facts.blind.empty() ? 1 : 0);
    measuring.set(facts.measuring ? 1 : 0);
    follow(errors, facts.errors, shown_facts.errors);
    follow(starts, facts.starts, shown_facts.starts);
    follow(ends.with({{"reason", "stuck"}}), facts.stuck, shown_facts.stuck);
    follow(ends.with({{"reason", "crashed"}}), facts.crashed, shown_facts.crashed);
    follow(ends.with({{"reason", "garbage"}}), facts.garbage, shown_facts.garbage);
    age.set(facts.age_seconds);
    if (facts.events) show_events(*facts.events);
    if (facts.rank_tables) show_rank_tables(*facts.rank_tables);
    return {200, registry.expose() + page(), "text/plain; version=0.0.4; charset=utf-8", {}};
  }

  void show(LinkKind kind, const Tally& t) {
    const std::string name = lower_case(domain::to_string(kind));
    for (const LinkState state : {LinkState::up, LinkState::degraded, LinkState::down}) {
      links.with({{"kind", name}, {"state", std::string(domain::to_string(state))}})
          .set(t.links[static_cast<std::size_t>(state)]);
    }
    lanes.with({{"kind", name}, {"state", "up"}}).set(t.lanes_up);
    lanes.with({{"kind", name}, {"state", "down"}}).set(t.lanes_down);
  }

  http::Loop& loop;
  std::function<ProbeFacts()> probe = [] { return ProbeFacts{}; };
  std::function<std::string()> page = [] { return std::string(); };
  obs::Registry registry;
  obs::Family<obs::Gauge>& chips;
  obs::Family<obs::Gauge>& links;
  obs::Family<obs::Gauge>& lanes;
  obs::Counter errors;
  obs::Gauge age;
  obs::Family<obs::Counter>& reports;
  obs::Gauge link_up;
  obs::Family<obs::Gauge>& faults;
  obs::Family<obs::Counter>& fault_events;
  obs::Family<obs::Gauge>& supported;
  obs::Family<obs::Gauge>& kubelet;
  obs::Family<obs::Gauge>& used;
  obs::Gauge works;
  obs::Gauge measuring;
  obs::Counter starts;
  obs::Family<obs::Counter>& ends;
  ProbeFacts shown_facts;
  EventCounts shown_events;
  std::set<std::string> codes;
  std::map<std::pair<std::string, std::string>, int> faults_shown;  // by code and effect
  std::map<LinkKind, Tally> shown;
  std::unique_ptr<http::Server> server;
};

MetricsHandler::MetricsHandler(http::Loop& loop) : impl_(std::make_unique<Impl>(loop)) {}

void MetricsHandler::set_source(std::function<ProbeFacts()> probe) {
  impl_->probe = std::move(probe);
}

void MetricsHandler::set_page(std::function<std::string()> page) { impl_->page = std::move(page); }

MetricsHandler::~MetricsHandler() = default;

Result<std::uint16_t> MetricsHandler::start(const std::string& host, std::uint16_t port,
                                            std::shared_ptr<http::TlsContext> tls) {
  http::ServerOptions options;
  options.tls = std::move(tls);
  options.host = host;
  options.port = port;
  options.max_connections = 64;
  options.max_body_bytes = 4096;  // requests have no body
  impl_->server = std::make_unique<http::Server>(
      impl_->loop, options,
      [impl = impl_.get()](const http::Request& r) { return impl->answer(r); });
  return impl_->server->start();
}

void MetricsHandler::drain(std::chrono::milliseconds grace, std::function<void()> done) {
  if (impl_->server == nullptr) {
    impl_->loop.post(std::move(done));
    return;
  }
  impl_->server->drain(grace, std::move(done));
}

void MetricsHandler::state(const NodeState& state) {
  std::map<domain::Health, int> chips;
  for (const domain::Chip& c : state.topology.chips()) ++chips[c.health];
  impl_->chips.with({{"state", "healthy"}}).set(chips[domain::Health::healthy]);
  impl_->chips.with({{"state", "network_unhealthy"}}).set(chips[domain::Health::network_unhealthy]);
  impl_->chips.with({{"state", "unhealthy"}}).set(chips[domain::Health::unhealthy]);
  std::map<LinkKind, Tally> now = tally(state.topology);
  for (const auto& [kind, before] : impl_->shown)
    now.try_emplace(kind);  // a kind that vanished shows zeros
  for (const auto& [kind, counts] : now) impl_->show(kind, counts);
  impl_->shown = std::move(now);
  impl_->show_faults(state);
}

void MetricsHandler::fault(const FaultChange& change) {
  impl_->fault_events
      .with({{"code", impl_->label(change.fault.code)}, {"change", to_string(change.kind)}})
      .add();
}

void MetricsHandler::connected(bool yes) { impl_->link_up.set(yes ? 1 : 0); }

void MetricsHandler::kubelet_supported(bool yes) { impl_->supported.with().set(yes ? 1 : 0); }

void MetricsHandler::kubelet_connected(bool yes) { impl_->kubelet.with().set(yes ? 1 : 0); }

void MetricsHandler::in_use(std::size_t chips) {
  impl_->used.with().set(static_cast<double>(chips));
}

void MetricsHandler::sent(const std::string& kind) { impl_->reports.with({{"kind", kind}}).add(); }

}  // namespace chipweave::agent
