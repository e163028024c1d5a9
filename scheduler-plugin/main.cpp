// chipweave-scheduler: flags → configuration → wiring → run → drain.
#include <CLI/CLI.hpp>

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/base/backoff.hpp"
#include "common/base/clock.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/flags/usage_error.hpp"
#include "common/http/loop.hpp"
#include "common/io/descriptor.hpp"
#include "common/io/files.hpp"
#include "common/kube/api_client.hpp"
#include "common/obs/log.hpp"
#include "common/rpc/server_identity.hpp"
#include "common/tls/certificate_files.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/caller_files.hpp"
#include "scheduler-plugin/cluster_info/publisher.hpp"
#include "scheduler-plugin/config.hpp"
#include "scheduler-plugin/crash_report.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "scheduler-plugin/network_file.hpp"
#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/server/clusterd/clusterd_server.hpp"
#include "scheduler-plugin/server/decision_log.hpp"
#include "scheduler-plugin/server/grpc_server.hpp"
#include "scheduler-plugin/server/http_front.hpp"
#include "scheduler-plugin/server/network_log.hpp"

namespace {

using namespace chipweave;
using sched::Config;

constexpr int kWrongUsage = 2;
constexpr int kUnreadable = 3;
constexpr std::chrono::milliseconds kDrainGrace{1000};
constexpr std::chrono::milliseconds kTick{1000};
constexpr std::chrono::milliseconds kWakeTick{100};

int complain(int code, const std::string& message) {
  std::fprintf(stderr, "chipweave-scheduler: %s\n", message.c_str());
  return code;
}

struct Flags {
  std::map<std::string, std::vector<std::string>, std::less<>> given;
  std::map<std::string, std::string, std::less<>>
      switches;  // "true" for the bare flag, or the text after '='; empty: not given
  std::string config_file;
  bool print_config = false;
};

// One flag for each setting of the table.
void declare(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config_file,
                 "settings file (YAML, docs/reference/configuration.md)");
  app.add_flag("--print-config", flags.print_config, "print the effective settings and exit");
  app.set_version_flag("--version", "chipweave-scheduler " CHIPWEAVE_VERSION);
  for (const sched::Setting& setting : sched::settings()) {
    const std::string flag = "--" + std::string(setting.name);
    if (setting.yes_or_no) {
      app.add_flag(flag, flags.switches[std::string(setting.name)], std::string(setting.help));
    } else {
      auto& values = flags.given[std::string(setting.name)];
      auto* option = app.add_option(flag, values, std::string(setting.help));
      if (setting.list) option->delimiter(',');
      if (!setting.list) option->expected(1);
    }
  }
  app.footer(
      "Example:\n  chipweave-scheduler --standalone --http 127.0.0.1:8080 --grpc 127.0.0.1:8081\n"
      "  chipweave-agent --node n1 --probe profile:hgx-h100-8 --scheduler 127.0.0.1:8081");
}

// Applies the file, then the flags. Returns 0, or an exit code after printing the error.
int load(const Flags& flags, Config& config) {
  if (!flags.config_file.empty()) {
    const auto text = io::read_file(flags.config_file, limits::kMaxConfigBytes);
    if (!text) return complain(kUnreadable, text.error().text());
    if (auto read = sched::apply_config_text(*text, config); !read) {
      return complain(kWrongUsage, flags.config_file + ": " + read.error().text());
    }
  }
  auto given = flags.given;
  for (const auto& [name, value] : flags.switches) {
    if (!value.empty()) given[name] = {value};
  }
  for (const auto& [name, values] : given) {
    if (values.empty()) continue;
    if (auto set = sched::find_setting(name)->set(config, values); !set) {
      return complain(kWrongUsage, "--" + name + ": " + set.error().text());
    }
  }
  return 0;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

sched::LeaderElection::Options election_of(const Config& config, const std::string& ns) {
  sched::LeaderElection::Options election;
  election.lease.ns = ns;
  election.lease.name = config.lease_name;
  election.lease.identity = config.leader_identity.empty() ? host_name() : config.leader_identity;
  election.lease.lease_duration = config.lease_duration;
  election.lease.renew_deadline = config.renew_deadline;
  election.lease.retry_period = config.retry_period;
  election.pod = config.pod_name;
  return election;
}

struct Reached {
  std::unique_ptr<sched::Kubernetes> kubernetes;
  // Connections of its own, so that no binding waits behind a ConfigMap. Null: not published.
  std::unique_ptr<kube::Transport> of_cluster_info;
};

Result<Reached> reach_kubernetes(http::Loop& loop, const Clock& clock, const Config& config) {
  auto access = kube::load_access({config.kubeconfig, {}}, kube::process_environment());
  if (!access) {
    Error why = std::move(access).error();
    if (config.kubeconfig.empty()) why.message += " (without Kubernetes: start with --standalone)";
    return why;
  }
  sched::KubernetesOptions options;
  options.version = CHIPWEAVE_VERSION;
  options.lease_namespace = !config.lease_namespace.empty() ? config.lease_namespace : access->ns;
  if (options.lease_namespace.empty()) options.lease_namespace = "default";
  options.allocate_claims = config.allocate_claims;
  options.allocate_untainted = config.allocate_untainted_devices;
  options.gang_kinds = config.gang_kinds;
  options.network_config_map = config.network_config_map;
  options.store_gang_plans = config.gang_plans;
  options.write_hostfiles = config.gang_hostfiles;
  const auto writes = [&](const char* which) {
    return std::find(config.rank_tables.begin(), config.rank_tables.end(), which) !=
           config.rank_tables.end();
  };
  options.write_tables = {writes("jobs"), writes("mindie"), writes("modelarts"), writes("pd")};
  options.dlrover_namespaces = config.dlrover_topology;
  if (config.leader_elect) options.election = election_of(config, options.lease_namespace);
  Reached reached;
  if (config.publish_cluster_info) {
    auto client = kube::ApiClient::make(loop, *access,
                                        "chipweave-scheduler/" CHIPWEAVE_VERSION " cluster-info");
    if (!client) return std::move(client).error();
    reached.of_cluster_info = std::move(*client);
  }
  auto made = sched::Kubernetes::make(loop, clock, *access, std::move(options), config.resources);
  if (!made) return std::move(made).error();
  reached.kubernetes = std::move(*made);
  return reached;
}

std::unique_ptr<sched::ClusterInfoPublisher> cluster_info_publisher(
    kube::Transport& transport, const Clock& clock, const sched::Scheduler& scheduler) {
  sched::ClusterInfoPublisher::Options options;
  options.may_send = [&scheduler] { return scheduler.authority().cannot_decide().empty(); };
  options.jitter = Backoff::seeded(std::random_device{}());
  return std::make_unique<sched::ClusterInfoPublisher>(transport, clock, std::move(options));
}

// Null: none are written or served.
std::unique_ptr<sched::RankTables> rank_tables(http::Loop& loop, const Config& config,
                                               const sched::Scheduler& scheduler) {
  if (config.rank_tables.empty() && !config.clusterd) return nullptr;
  sched::RankTables::Options options;
  if (config.rank_table_pod_uids) options.names = domain::ranktable::ServerNames::pod_uid;
  auto out = std::make_unique<sched::RankTables>(scheduler, options);
  out->on_work([&loop, tables = out.get()] { loop.post([tables] { tables->update(); }); });
  return out;
}

// The HTTP port answers decisions only to authenticated callers, except standalone on loopback.
void warn_of_callers(const Config& config) {
  const bool credentials = !config.tls_client_ca.empty() || !config.caller_secrets.empty();
  if (!credentials && !(config.standalone && config.http.is_loopback())) {
    obs::log(obs::Level::warn,
             "no caller can authenticate, so every decision is refused: set --tls-client-ca or "
             "--caller-secrets (with --tls-cert and --tls-key)",
             {{"side", "http"}, {"address", config.http.text()}});
  }
  if (!config.tls_client_ca.empty() && config.client_names.empty()) {
    obs::log(obs::Level::warn,
             "every certificate of tls-client-ca may decide: if this CA signs others than the "
             "callers, list the callers in client-names",
             {{"tls-client-ca", config.tls_client_ca}});
  }
}

// What an HTTP caller has to prove. secrets: null without the setting.
sched::CallerRules caller_rules(const Config& config, const sched::CallerFiles* files) {
  return {config.standalone && config.http.is_loopback(), !config.tls_client_ca.empty(),
          config.client_names, files == nullptr ? nullptr : &files->secrets(),
          config.read_from_loopback};
}

std::string ports_json(std::uint16_t http, std::optional<std::uint16_t> grpc,
                       std::optional<std::uint16_t> clusterd) {
  JsonWriter out;
  out.begin_object().field("http", http);
  if (grpc) out.field("grpc", *grpc);
  if (clusterd) out.field("clusterd", *clusterd);
  return out.end_object().take() + "\n";
}

// Empty without the setting.
Result<std::vector<domain::RateOverlay>> measured_constants(const Config& config) {
  if (config.profile_overlays.empty()) return std::vector<domain::RateOverlay>{};
  auto overlays = io::load_overlays(config.profile_overlays);
  if (!overlays) return overlays;
  for (const domain::RateOverlay& overlay : *overlays) {
    obs::log(obs::Level::info, "measured constants in use",
             {{"file", overlay.name}, {"models", joined(overlay.models, ", ")}});
  }
  return overlays;
}

int run(const Config& config) {
  auto overlays = measured_constants(config);
  if (!overlays) return complain(kUnreadable, "--profile-overlays: " + overlays.error().text());
  const std::size_t descriptors = io::raise_descriptor_limit(limits::kMaxDescriptors);
  const SystemClock clock;
  http::Loop loop;
  std::unique_ptr<tls::CertificateFiles> certificate;
  if (!config.tls_cert.empty()) {
    auto opened =
        tls::CertificateFiles::open(clock, {config.tls_cert, config.tls_key, config.tls_client_ca});
    if (!opened) return complain(kUnreadable, "TLS: " + opened.error().text());
    certificate = std::move(*opened);
  }
  std::unique_ptr<sched::CallerFiles> callers;
  if (!config.caller_secrets.empty()) {
    auto opened = sched::CallerFiles::open(config.caller_secrets);
    if (!opened) return complain(kUnreadable, "--caller-secrets: " + opened.error().text());
    callers = std::move(*opened);
    loop.every(tls::kLookEvery, [&] { callers->check(); });
  }

  sched::Metrics metrics(CHIPWEAVE_VERSION);
  const sched::CrashFile crashes(config.crash_file);
  sched::count_crashes(crashes, metrics);
  sched::end_on_escape(loop, clock, crashes);
  loop.on_held(
      [&](http::LoopTask task, std::chrono::nanoseconds took) { metrics.loop_held(task, took); });
  sched::Observers observers;
  sched::DecisionLog decision_log;
  observers.add(decision_log);
  observers.add(metrics);
  const auto decisions = sched::make_decision_feed(clock);
  observers.add(sched::observer_of(*decisions));
  sched::MemoryCluster memory;
  Reached cluster_api;
  const std::unique_ptr<sched::Kubernetes>& kubernetes = cluster_api.kubernetes;
  if (!config.standalone) {
    auto reached = reach_kubernetes(loop, clock, config);
    if (!reached) {
      const bool no_pod =
          config.kubeconfig.empty() && reached.error().code == Errc::invalid_argument;
      return complain(no_pod ? kWrongUsage : kUnreadable, reached.error().text());
    }
    cluster_api = std::move(*reached);
    observers.add(kubernetes->events());
    observers.add(kubernetes->gang_events());
  }
  warn_of_callers(config);
  sched::Cluster& cluster = kubernetes ? kubernetes->cluster() : memory;
  sched::Scheduler scheduler(clock, cluster, observers,
                             {config.reservation_ttl,
                              config.inventory_stale_after,
                              config.annotate_after_bind,
                              config.scheduler_names,
                              *std::move(overlays),
                              config.node_preference,
                              config.plan_gangs,
                              config.nominate_gangs,
                              config.max_gang_spares,
                              config.gang_kinds,
                              {config.gate_timeout,
                               {config.pinned_schedulers.begin(), config.pinned_schedulers.end()},
                               config.keep_chips_after},
                              config.network()});
  memory.set_listener(&scheduler.reconciler());
  std::unique_ptr<sched::NetworkFile> network_file;
  if (!config.network_file.empty()) {
    auto opened = sched::NetworkFile::open(config.network_file, scheduler.network());
    if (!opened) return complain(kUnreadable, "--network-file: " + opened.error().text());
    network_file = std::move(*opened);
  }
  std::unique_ptr<sched::ClusterInfoPublisher> cluster_info;
  if (cluster_api.of_cluster_info)
    cluster_info = cluster_info_publisher(*cluster_api.of_cluster_info, clock, scheduler);

  http::ServerOptions options;
  std::unique_ptr<sched::RankTables> tables = rank_tables(loop, config, scheduler);
  options.host = config.http.host;
  options.port = config.http.port;
  options.max_connections = config.max_connections;
  sched::GrpcOptions grpc_options;
  const auto grpc_address = config.grpc_address();
  if (certificate) {
    options.tls = certificate->context();
    grpc_options.tls = std::make_shared<rpc::ServerIdentity>(certificate->pem());
    certificate->on_change = [identity = grpc_options.tls](const ServerPem& pem) {
      identity->replace(pem);
    };
    loop.every(tls::kLookEvery, [&] { certificate->check(); });
  }
  sched::NetworkLog network_log;
  sched::HttpFront front(loop, options, scheduler,
                         {kubernetes ? nullptr : &memory, kubernetes.get(), tables.get()}, metrics,
                         config.resources, CHIPWEAVE_VERSION,
                         {config.volcano_weight, caller_rules(config, callers.get()), config.gate});
  grpc_options.decisions = decisions;
  grpc_options.on_end = [&](std::string_view method, std::string_view code) {
    metrics.grpc_call(method, code);
  };
  grpc_options.names = {config.grpc_client_names, config.grpc_reader_names};
  if (config.grpc_auth == "token") {
    sched::TokenReviewer& reviewer = kubernetes->token_reviewer(
        {config.grpc_audience, config.grpc_users, config.grpc_reader_users});
    grpc_options.check_token = [&](std::string token, sched::TokenReviewer::Done done) {
      reviewer.check(std::move(token), std::move(done));
    };
  }
  // In a cluster agents report to the API server, which guards who may write what.
  sched::GrpcServer grpc(loop, kubernetes ? nullptr : &scheduler, scheduler.placements(),
                         grpc_options);

  const auto http_port = front.start();
  if (!http_port)
    return complain(1, "--http " + config.http.text() + ": " + http_port.error().text());
  std::optional<std::uint16_t> grpc_port;  // empty: off
  if (grpc_address) {
    const auto started = grpc.start(grpc_address->text());
    if (!started)
      return complain(1, "--grpc " + grpc_address->text() + ": " + started.error().text());
    grpc_port = *started;
  }

  std::unique_ptr<sched::ClusterdServer> clusterd;
  std::optional<std::uint16_t> clusterd_port;
  if (config.clusterd) {
    sched::ClusterdServer::OwnerUid owner_uid;
    if (kubernetes) {
      owner_uid = [&kubernetes](const sched::GangRef& gang) {
        auto owner = kubernetes->owner_of(gang);
        return owner ? std::move(owner->uid) : std::string();
      };
    }
    clusterd = std::make_unique<sched::ClusterdServer>(loop, *tables, scheduler, clock,
                                                       std::move(owner_uid));
    const auto started = clusterd->start(config.clusterd->text(),
                                         config.clusterd_tls ? grpc_options.tls.get() : nullptr);
    if (!started)
      return complain(1, "--clusterd " + config.clusterd->text() + ": " + started.error().text());
    clusterd_port = *started;
  }

  loop.every(kTick, [&] {
    scheduler.tick();
    front.tick();
    if (network_file) network_file->check();
    network_log.check(scheduler.network());
    if (tables) tables->tick();
    if (tables) metrics.set_rank_tables(tables->counts(), clusterd ? clusterd->subscribers() : 0);
  });
  loop.every(kWakeTick, [&] {
    scheduler.gang_gates().check();
    if (clusterd) clusterd->tick(scheduler.authority().cannot_decide().empty());
  });
  if (kubernetes) {
    kubernetes->set_gang_listener([&](const sched::GangKey& gang, auto spec) {
      scheduler.owner_says(gang.text(), std::move(spec));
    });
    scheduler.use(kubernetes->plans());
    if (config.gang_preemption) scheduler.use(kubernetes->evictions());
    if (config.fault_scheduling) scheduler.end_failed_pods(kubernetes->evictions());
    if (tables) kubernetes->use(*tables);
    kubernetes->start(scheduler);
    loop.every(kWakeTick, [&] {
      kubernetes->tick();
      if (cluster_info)
        cluster_info->tick(scheduler.nodes(), scheduler.ledger(),
                           scheduler.authority().cannot_decide().empty());
    });
  }
  loop.on_terminate([&] {
    obs::log(obs::Level::info, "draining");
    if (clusterd) clusterd->stop();
    grpc.stop(kDrainGrace);
    front.drain(kDrainGrace, [&] {
      if (!kubernetes) return loop.stop();
      cluster_info.reset();
      kubernetes->stop([&] { loop.stop(); });
    });
  });
  if (!config.port_file.empty()) {
    const std::string ports = ports_json(*http_port, grpc_port, clusterd_port);
    if (auto written = io::write_file_atomically(config.port_file, ports); !written) {
      grpc.stop(std::chrono::milliseconds(0));
      return complain(1, "--port-file: " + written.error().text());
    }
  }
  front.set_ready(true);
  obs::log(obs::Level::info, "ready",
           {{"http", int{*http_port}},
            {"grpc", grpc_port ? std::to_string(*grpc_port) : "off"},
            {"clusterd", clusterd_port ? std::to_string(*clusterd_port) : "off"},
            {"descriptors", descriptors},
            {"version", CHIPWEAVE_VERSION}});
  loop.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef M_MMAP_THRESHOLD
  // Buffers of large requests go back to the system. Without this the C library keeps them once it
  // has seen a few.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  CLI::App app("Places pods on the accelerators that talk to each other fastest.",
               "chipweave-scheduler");
  Flags flags;
  declare(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // prints help or the version
  } catch (const CLI::ParseError& e) {
    return complain(kWrongUsage, chipweave::flags::usage_error(app, e));
  }
  Config config;
  if (const int code = load(flags, config); code != 0) return code;
  if (auto ok = sched::check_config(config); !ok) return complain(kWrongUsage, ok.error().text());
  if (flags.print_config) {
    std::fputs(sched::print_config(config).c_str(), stdout);
    return 0;
  }
  obs::set_level(config.log_level);
  try {
    return run(config);
  } catch (const std::exception& e) {
    return complain(1, std::string("fatal: ") + e.what());
  }
}
