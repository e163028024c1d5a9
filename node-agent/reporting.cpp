#include "node-agent/reporting.hpp"

#include <filesystem>
#include <random>
#include <utility>

#include "common/codec/mindcluster/names/device_ids.hpp"
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

// The kubelet writes its checkpoint of allocated devices when an allocation is complete.
std::string checkpoint_of(const std::string& socket) {
  return std::filesystem::path(socket).parent_path().parent_path() / "device-plugins" /
         "kubelet_internal_checkpoint";
}

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

CompatEvents compat_events(OperatorCommands commands) {
  CompatEvents out;
  out.cordon = [cordon = std::move(commands.cordon)](const codec::ChipSelection& chips) {
    cordon({chips.all, {chips.chips.begin(), chips.chips.end()}});
  };
  out.clear = [clear = std::move(commands.clear_faults)](const codec::ChipSelection& chips) {
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
                                                   OperatorCommands commands,
                                                   KubeletEvents kubelet) {
  auto out = std::make_unique<Reporting>();
  auto ok = flags.scheduler
                ? out->use_scheduler(flags, loop, std::move(events))
                : out->use_cluster(flags, loop, clock, std::move(events), std::move(commands));
  if (!ok) return std::move(ok).error();
  if (!flags.pod_resources.empty()) out->use_kubelet(flags, loop, std::move(kubelet));
  return out;
}

Result<void> Reporting::use_scheduler(const Flags& flags, http::Loop& loop, ReporterEvents events) {
  if (!flags.tls_ca.empty()) {
    if (const auto ok = read_tls(flags); !ok) return ok.error();
  } else if (!flags.scheduler->is_loopback()) {
    obs::log(
        obs::Level::warn,
        "reports go to the scheduler unencrypted: start it with --tls-cert, and set --tls-ca here",
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
                                    ReporterEvents events, OperatorCommands commands) {
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
  obs::log(obs::Level::info, "reporting to the API server",
           {{"host", access->origin.host},
            {"port", access->origin.port},
            {"lease", options.lease_namespace + "/" + options.node}});
  auto client = kube::ApiClient::make(loop, std::move(access).value(),
                                      std::string("chipweave-agent/") + CHIPWEAVE_VERSION);
  if (!client) return std::move(client).error();
  api_ = std::move(client).value();
  events.sent = [this, sent = std::move(events.sent)](ReportKind kind) {
    if (sent) sent(kind);
    if (kind == ReportKind::full && !std::exchange(inventory_sent_, true)) publish_config_maps();
  };
  events.remembered = [this, restore = std::move(events.remembered)](const auto& faults) {
    if (restore) restore(faults);
    events_->begin(in_terms_of(state_->topology, faults));
  };
  reporter_ = std::make_unique<KubeReporter>(*api_, clock, options, std::move(events));
  events_ = std::make_unique<NodeEvents>(*api_, clock, flags.node);
  CompatEvents compat = compat_events(std::move(commands));
  compat.commands_known = [this] { reporter_->start(); };
  compat_ =
      std::make_unique<CompatPublisher>(*api_, clock, compat_options(flags), std::move(compat));
  return {};
}

void Reporting::use_kubelet(const Flags& flags, http::Loop& loop, KubeletEvents events) {
  PodResourcesOptions options;
  options.socket = flags.pod_resources;
  options.resources = codec::mindcluster::kResourceDomain;
  options.seed = std::random_device{}();
  count_in_use_ = std::move(events.in_use);
  show_kubelet_supported_ = std::move(events.supported);
  kube::ApiChain::Options chain;
  chain.what = "node " + flags.node;
  chain.seed = options.seed;
  PodResourcesEvents kubelet;
  kubelet.answers = [this, show = std::move(events.answers)](bool yes) {
    if (show) show(yes);
    if (!yes) kubelet_version_->read();  // it may be another one when it answers again
  };
  kubelet.allocated = [this](const AllocatedDevices& allocated) {
    allocated_ = allocated;
    publish_in_use();
    publish_config_maps();
  };
  const std::string checkpoint = checkpoint_of(flags.pod_resources);
  kubelet_ = std::make_unique<PodResourcesClient>(loop, std::move(options), std::move(kubelet));
  kubelet_version_ = std::make_unique<KubeletVersionReader>(
      *api_, flags.node, std::move(chain), [this](bool usable) { kubelet_version_known(usable); });
  allocations_ = std::make_unique<FileWatch>(std::vector{checkpoint}, kubelet_->change_notifier());
  if (!allocations_->complete()) {
    obs::log(obs::Level::warn,
             "new allocations are noticed within a minute only: mount the folder of this file",
             {{"file", checkpoint}});
  }
}

void Reporting::kubelet_version_known(bool usable) {
  kubelet_usable_ = usable;
  if (show_kubelet_supported_) show_kubelet_supported_(usable);
  usable ? kubelet_->start() : kubelet_->stop();
  publish_config_maps();
}

void Reporting::publish_in_use() {
  if (!allocated_) return;
  ChipsInUse now = chips_in_use(state_->topology, *allocated_);
  if (now.unknown_devices != unknown_devices_ && !now.unknown_devices.empty()) {
    obs::log(
        obs::Level::warn,
        "the kubelet lists devices that this machine does not have; they are ignored: check the "
        "device plugin of this node",
        {{"first", now.unknown_devices.front()}});
  }
  unknown_devices_ = std::move(now.unknown_devices);
  if (count_in_use_) count_in_use_(now.chips.size());
  compat_->in_use(std::move(now.chips));
}

// A starting agent would list chips as free that pods use, so it waits for the kubelet as well as
// for its inventory; the publisher's own timeout ends the wait.
void Reporting::publish_config_maps() {
  const bool waits = asks_kubelet() && !allocated_;
  if (inventory_sent_ && !waits) compat_->publish_config_maps();
}

// MindCluster needs it for Ascend machines only.
bool Reporting::asks_kubelet() const {
  return kubelet_ != nullptr && kubelet_usable_.value_or(true) &&
         domain::vendor_of(state_->topology).in_mindcluster;
}

void Reporting::want(const NodeStatePtr& state, bool urgent) {
  const bool first = std::exchange(state_, state) == nullptr;
  reporter_->want(state, urgent);
  publish_in_use();
  if (compat_) compat_->want(state);
  if (asks_kubelet() && !kubelet_usable_) kubelet_version_->read();
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
  allocations_.reset();
  kubelet_version_.reset();
  kubelet_.reset();
  if (compat_) compat_->stop();
  reporter_->stop(std::move(done));
}

}  // namespace chipweave::agent
