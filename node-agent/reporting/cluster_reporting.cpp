#include "node-agent/reporting/cluster_reporting.hpp"

#include <random>
#include <set>
#include <string>
#include <utility>

#include "common/io/files.hpp"
#include "common/kube/access.hpp"
#include "common/obs/log.hpp"
#include "node-agent/app/machine/continuity.hpp"
#include "node-agent/publish/boot_id.hpp"
#include "node-agent/sources/list_lock.hpp"

namespace chipweave::agent {
namespace {

using Fact = StartSequence::Fact;
using Stage = StartSequence::Stage;

CompatOptions compat_options(const ReportingOptions& options) {
  CompatOptions out;
  out.node = options.node;
  out.mindcluster = options.publish.contains("mindcluster");
  out.ack = options.publish.contains("ack");
  out.labels = options.publish.contains("labels");
  out.gfd_labels = options.publish.contains("gfd-labels");
  out.metax_labels = options.publish.contains("metax-labels");
  out.in_use = !options.pod_resources.empty();
  out.nfd_file = options.nfd_file;
  out.seed = std::random_device{}();
  return out;
}

NodeCommands::Events command_events(OperatorCommands commands) {
  NodeCommands::Events out;
  out.cordon = [cordon = std::move(commands.cordon)](const codec::ChipSelection& chips,
                                                     bool complete) {
    cordon({chips.all, {chips.chips.begin(), chips.chips.end()}}, complete);
  };
  out.maintenance = std::move(commands.maintenance);
  out.clear = [clear = std::move(commands.clear_faults)](const codec::ChipSelection& chips) {
    if (chips.all) clear(std::nullopt);
    for (const domain::ChipIndex chip : chips.chips) clear(chip);
  };
  return out;
}

// What need not be waited for.
std::set<Fact> known_facts(const ReportingOptions& options) {
  std::set<Fact> out;
  if (!options.publish.contains("mindcluster")) out.insert(Fact::list);
  if (options.pod_resources.empty()) out.insert(Fact::in_use);
  return out;
}

// Where a DRA driver shows that it has prepared a claim: ours, or a vendor's.
std::string cdi_folder_of(const ReportingOptions& options) {
  if (options.dra) return options.dra->cdi_folder;
  return options.enforcement == domain::Enforcement::dra ? dra::kCdiFolder : "";
}

}  // namespace

Result<std::unique_ptr<ClusterReporting>> ClusterReporting::make(
    const ReportingOptions& options, http::Loop& loop, const Clock& clock, ReporterEvents events,
    OperatorCommands commands, KubeletEvents kubelet) {
  auto access = kube::load_access({options.kubeconfig, ""}, kube::process_environment());
  if (!access) return std::move(access).error();
  std::string leases = options.lease_namespace.empty() ? access->ns : options.lease_namespace;
  if (leases.empty()) leases = "default";
  if (const auto ok = check_lease_namespace(leases); !ok) {
    return make_error(Errc::invalid_argument, "the namespace of the pod or kubeconfig " +
                                                  ok.error().text() +
                                                  "; name one with --lease-namespace");
  }
  obs::log(obs::Level::info, "reporting to the API server",
           {{"host", access->origin.host},
            {"port", access->origin.port},
            {"lease", leases + "/" + options.node}});
  auto client = kube::ApiClient::make(loop, std::move(access).value(),
                                      std::string("chipweave-agent/") + CHIPWEAVE_VERSION);
  if (!client) return std::move(client).error();
  std::unique_ptr<ClusterReporting> out(new ClusterReporting(std::move(client).value()));
  out->enforcement_ = options.enforcement;
  out->start_ = std::make_unique<StartSequence>(
      *out->api_, known_facts(options), [self = out.get()](Stage stage) { self->entered(stage); });
  auto contested = std::move(events.contested);
  out->report(options, clock, leases, std::move(events));
  out->publish(options, clock, std::move(commands));
  if (!options.pod_resources.empty()) out->ask_kubelet(options, loop, std::move(kubelet));
  if (options.dra) out->drive(options, loop, std::move(contested));
  if (options.enforcement == domain::Enforcement::device_plugin) out->watch_gate(options, loop);
  if (!options.rank_tables.namespaces.empty()) {
    out->rank_tables_ = std::make_unique<RankTableFiles>(*out->api_, options.rank_tables,
                                                         options.node, std::random_device{}());
  }
  return out;
}

void ClusterReporting::recall() {
  if (dra_) dra_->start();
  if (rank_tables_) rank_tables_->start();
  reporter_->recall();
}

std::optional<RankTableFiles::Counts> ClusterReporting::rank_tables() const {
  return rank_tables_ ? std::optional(rank_tables_->counts()) : std::nullopt;
}

void ClusterReporting::drive(const ReportingOptions& options, http::Loop& loop,
                             std::function<void(const std::string&)> contested) {
  dra::DraOptions driver = *options.dra;
  driver.node = options.node;
  driver.seed = std::random_device{}();
  dra_ = std::make_unique<dra::DraDriver>(loop, *api_, std::move(driver), std::move(contested));
}

// A closed gate is urgent: the kubelet refuses the pods that are bound meanwhile.
void ClusterReporting::watch_gate(const ReportingOptions& options, http::Loop& loop) {
  gate_ = std::make_unique<GateWatch>(loop, options.gate_file, [this](bool open) {
    obs::log(obs::Level::info,
             open ? "the device plugin is ready for pods" : "the device plugin is not ready");
    if (state_ != nullptr) reporter_->want(with_given(), true);
  });
}

void ClusterReporting::report(const ReportingOptions& options, const Clock& clock,
                              const std::string& lease_namespace, ReporterEvents events) {
  KubeReporterOptions reporter;
  reporter.node = options.node;
  reporter.boot_id = make_boot_id();
  reporter.node_boot_id = node_boot_id();
  reporter.seed = std::random_device{}();
  reporter.lease_namespace = lease_namespace;
  events.sent = [this, sent = std::move(events.sent)](ReportKind kind) {
    if (sent) sent(kind);
    if (kind == ReportKind::full) start_->learn(Fact::inventory);
  };
  events.remembered = [this, restore = std::move(events.remembered)](domain::RememberedNode node) {
    remembered_ = node;
    if (restore) restore(std::move(node));
    begin_events();
  };
  reporter_ = std::make_unique<KubeReporter>(*api_, clock, reporter, std::move(events));
  events_ = std::make_unique<NodeEvents>(*api_, clock, options.node);
}

void ClusterReporting::publish(const ReportingOptions& options, const Clock& clock,
                               OperatorCommands commands) {
  CompatEvents events;
  events.commands = command_events(std::move(commands));
  events.node_known = [this] { start_->learn(Fact::node); };
  events.list_known = [this] { start_->learn(Fact::list); };
  events.write_file = [](const std::string& path, const std::string& text) {
    return io::write_file_atomically(path, text);
  };
  compat_ =
      std::make_unique<CompatPublisher>(*api_, clock, compat_options(options), std::move(events));
}

void ClusterReporting::ask_kubelet(const ReportingOptions& options, http::Loop& loop,
                                   KubeletEvents events) {
  events.users = [this, show = std::move(events.users)](const ChipUsers& users) {
    if (show) show(users);
    compat_->in_use(chips_in_use(users));
    start_->learn(Fact::in_use);
  };
  events.given = [this](const domain::GivenChips& given) {
    given_ = given;
    if (state_ != nullptr) reporter_->want(with_given(), false);
  };
  const auto given_up = [this] {
    compat_->in_use_unknown();
    start_->learn(Fact::in_use);
  };
  kubelet_ = std::make_unique<KubeletChips>(
      loop, *api_,
      KubeletChips::Options{options.node, options.pod_resources, std::random_device{}(),
                            cdi_folder_of(options), list_lock_path(options.gate_file)},
      std::move(events), given_up);
}

void ClusterReporting::entered(StartSequence::Stage stage) {
  if (stage == Stage::asking) {
    compat_->start();
  } else if (stage == Stage::reporting) {
    reporter_->start();
  } else if (stage == Stage::publishing) {
    compat_->publish_config_maps();
  }
}

void ClusterReporting::want(const NodeStatePtr& state, bool urgent) {
  const bool first = std::exchange(state_, state) == nullptr;
  reporter_->want(with_given(), urgent);
  compat_->want(state);
  if (kubelet_) kubelet_->want(state);
  if (dra_) dra_->want(state);
  if (!first) return;
  for (const domain::Fault& fault : state->faults) {
    events_->fault({FaultChange::Kind::raised, fault});
  }
  begin_events();
  start_->learn(Fact::machine);
}

NodeStatePtr ClusterReporting::with_given() const {
  if (!given_ && enforcement_ == domain::Enforcement::none) return state_;
  NodeState out = *state_;
  out.given = given_;
  out.enforcement = enforcement_;
  out.gate_open = gate_ != nullptr && gate_->open();
  return std::make_shared<const NodeState>(std::move(out));
}

// Faults that the previous run has reported make no event again.
void ClusterReporting::begin_events() {
  if (!remembered_ || state_ == nullptr) return;
  const auto node = *std::exchange(remembered_, std::nullopt);
  events_->begin(node.same_boot ? in_terms_of(state_->topology, node.faults)
                                : std::vector<domain::Fault>());
}

void ClusterReporting::fault(const FaultChange& change) {
  if (state_ != nullptr) events_->fault(change);
}

void ClusterReporting::stop(std::function<void()> done) {
  kubelet_.reset();
  gate_.reset();
  rank_tables_.reset();
  if (dra_) dra_->stop();
  start_->stop();
  compat_->stop();
  reporter_->stop(std::move(done));
}

}  // namespace chipweave::agent
