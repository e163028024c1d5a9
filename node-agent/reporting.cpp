#include "node-agent/reporting.hpp"

#include <random>
#include <utility>

#include "common/io/files.hpp"
#include "common/kube/access.hpp"
#include "common/obs/log.hpp"
#include "common/tls/client_files.hpp"
#include "node-agent/app/continuity.hpp"
#include "node-agent/publish/boot_id.hpp"
#include "node-agent/publish/grpc_reporter.hpp"
#include "node-agent/publish/kube_reporter.hpp"

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
                                                   Wishes wishes) {
  auto out = std::make_unique<Reporting>();
  auto ok = flags.scheduler
                ? out->use_scheduler(flags, loop, std::move(events))
                : out->use_cluster(flags, loop, clock, std::move(events), std::move(wishes));
  if (!ok) return std::move(ok).error();
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
    if (kind == ReportKind::full) compat_->speak();
  };
  events.remembered = [this, restore = std::move(events.remembered)](const auto& faults) {
    if (restore) restore(faults);
    events_->begin(in_terms_of(newest_->topology, faults));
  };
  reporter_ = std::make_unique<KubeReporter>(*api_, clock, options, std::move(events));
  events_ = std::make_unique<NodeEvents>(*api_, clock, flags.node);
  CompatEvents compat = compat_events(std::move(wishes));
  compat.heard = [this] { reporter_->start(); };
  compat_ =
      std::make_unique<CompatPublisher>(*api_, clock, compat_options(flags), std::move(compat));
  return {};
}

void Reporting::want(const NodeStatePtr& state, bool urgent) {
  const bool first = std::exchange(newest_, state) == nullptr;
  reporter_->want(state, urgent);
  if (compat_) compat_->want(state);
  if (!first) return;
  if (events_) {
    for (const domain::Fault& fault : state->faults) {
      events_->fault({FaultChange::Kind::raised, fault});
    }
  }
  compat_ ? compat_->start() : reporter_->start();
}

void Reporting::fault(const FaultChange& change) {
  if (events_ && newest_ != nullptr) events_->fault(change);
}

std::optional<kube::EventSender::Stats> Reporting::event_stats() const {
  if (!events_) return std::nullopt;
  return events_->stats();
}

void Reporting::stop(std::function<void()> done) {
  if (compat_) compat_->stop();
  reporter_->stop(std::move(done));
}

}  // namespace chipweave::agent
