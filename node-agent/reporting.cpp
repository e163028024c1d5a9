#include "node-agent/reporting.hpp"

#include <random>
#include <utility>

#include "common/domain/vendor.hpp"
#include "common/io/files.hpp"
#include "common/kube/access.hpp"
#include "common/obs/log.hpp"
#include "common/tls/client_files.hpp"
#include "node-agent/app/continuity.hpp"
#include "node-agent/publish/boot_id.hpp"
#include "node-agent/publish/grpc_reporter.hpp"
#include "node-agent/publish/kube/kube_reporter.hpp"

namespace chipweave::agent {
namespace {

Result<ClientPem> read_tls(const Flags& flags) {
  return tls::read_client_files({flags.tls_ca, flags.tls_cert, flags.tls_key},
                                flags.tls_server_name);
}

CompatOptions compat_options(const Flags& flags) {
  CompatOptions out;
  out.node = flags.node;
  out.mindcluster = flags.publish.contains("mindcluster");
  out.ack = flags.publish.contains("ack");
  out.labels = flags.publish.contains("labels");
  out.gfd_labels = flags.publish.contains("gfd-labels");
  out.metax_labels = flags.publish.contains("metax-labels");
  out.nfd_file = flags.nfd_file;
  out.seed = std::random_device{}();
  return out;
}

CompatEvents compat_events(Wishes wishes) {
  CompatEvents out;
  out.cordon = [cordon = std::move(wishes.cordon)](const codec::ChipSelection& chips) {
    cordon({chips.all, {chips.chips.begin(), chips.chips.end()}});
  };
  out.clear = [clear = std::move(wishes.clear_faults)](const codec::ChipSelection& chips) {
    if (chips.all) clear(std::nullopt);
    for (const domain::ChipIndex chip : chips.chips) clear(chip);
  };
  out.write_file = [](const std::string& path, const std::string& text) {
    return io::write_file_atomically(path, text);
  };
  return out;
}

}  // namespace

Result<std::unique_ptr<Reporting>> Reporting::make(const Flags& flags, http::Loop& loop,
                                                   const Clock& clock, ReporterEvents events,
                                                   Wishes wishes, KubeletEvents kubelet) {
  auto out = std::make_unique<Reporting>();
  auto ok = flags.scheduler
                ? out->use_scheduler(flags, loop, std::move(events))
                : out->use_cluster(flags, loop, clock, std::move(events), std::move(wishes));
  if (!ok) return std::move(ok).error();
  if (!flags.pod_resources.empty()) out->use_kubelet(flags.pod_resources, loop, std::move(kubelet));
  return out;
}

Result<void> Reporting::use_scheduler(const Flags& flags, http::Loop& loop, ReporterEvents events) {
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
  reporter_ = std::make_unique<GrpcReporter>(loop, std::move(options), std::move(events));
  return {};
}

Result<void> Reporting::use_cluster(const Flags& flags, http::Loop& loop, const Clock& clock,
                                    ReporterEvents events, Wishes wishes) {
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
  events.sent = [this, sent = std::move(events.sent)](ReportKind kind) {
    if (sent) sent(kind);
    if (kind == ReportKind::full && !std::exchange(inventory_sent_, true)) speak();
  };
  events.remembered = [this, restore = std::move(events.remembered)](const auto& faults) {
    if (restore) restore(faults);
    events_->begin(in_terms_of(state_->topology, faults));
  };
  reporter_ = std::make_unique<KubeReporter>(*api_, clock, options, std::move(events));
  events_ = std::make_unique<NodeEvents>(*api_, clock, flags.node);
  CompatEvents compat = compat_events(std::move(wishes));
  compat.heard = [this] { reporter_->start(); };
  compat_ =
      std::make_unique<CompatPublisher>(*api_, clock, compat_options(flags), std::move(compat));
  return {};
}

void Reporting::use_kubelet(const std::string& socket, http::Loop& loop, KubeletEvents events) {
  PodResourcesOptions options;
  options.socket = socket;
  options.seed = std::random_device{}();
  count_in_use_ = std::move(events.in_use);
  PodResourcesEvents told;
  told.answers = std::move(events.answers);
  told.given = [this](const GivenDevices& given) {
    given_ = given;
    tell_in_use();
    speak();
  };
  kubelet_ = std::make_unique<PodResourcesClient>(loop, std::move(options), std::move(told));
}

void Reporting::tell_in_use() {
  if (!given_) return;
  ChipsInUse now = chips_in_use(state_->topology, *given_);
  if (now.strangers != strangers_ && !now.strangers.empty()) {
    obs::log(obs::Level::warn,
             "pods have devices that this machine does not have: they are left out, see the device "
             "plugin of this node",
             {{"first", now.strangers.front()}});
  }
  strangers_ = std::move(now.strangers);
  if (count_in_use_) count_in_use_(now.chips.size());
  compat_->in_use(std::move(now.chips));
}

// An agent that starts would call chips free that pods have: it waits for the kubelet as well as
// for its inventory, and the publisher's own patience ends that.
void Reporting::speak() {
  const bool waits = asks_kubelet() && !given_;
  if (inventory_sent_ && !waits) compat_->speak();
}

// Of other machines MindCluster is told nothing.
bool Reporting::asks_kubelet() const {
  return kubelet_ != nullptr && domain::vendor_of(state_->topology).in_mindcluster;
}

void Reporting::want(const NodeStatePtr& state, bool urgent) {
  const bool first = std::exchange(state_, state) == nullptr;
  reporter_->want(state, urgent);
  tell_in_use();
  if (compat_) compat_->want(state);
  if (asks_kubelet()) kubelet_->start();
  if (!first) return;
  if (events_) {
    for (const domain::Fault& fault : state->faults) {
      events_->fault({FaultChange::Kind::raised, fault});
    }
  }
  compat_ ? compat_->start() : reporter_->start();
}

void Reporting::fault(const FaultChange& change) {
  if (events_ && state_ != nullptr) events_->fault(change);
}

std::optional<kube::EventSender::Stats> Reporting::event_stats() const {
  if (!events_) return std::nullopt;
  return events_->stats();
}

void Reporting::stop(std::function<void()> done) {
  kubelet_.reset();
  if (compat_) compat_->stop();
  reporter_->stop(std::move(done));
}

}  // namespace chipweave::agent
