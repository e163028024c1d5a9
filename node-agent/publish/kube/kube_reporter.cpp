#include "node-agent/publish/kube/kube_reporter.hpp"

#include <chrono>
#include <utility>

#include "common/obs/log.hpp"

namespace chipweave::agent {
namespace {

InventoryWriter::Options inventory_options(const KubeReporterOptions& options) {
  InventoryWriter::Options out;
  out.node = options.node;
  out.boot_id = options.boot_id;
  out.node_boot_id = options.node_boot_id;
  out.chain.what = "inventory of node " + options.node;
  out.chain.seed = options.seed;
  return out;
}

LeaseKeeper::Options lease_options(const KubeReporterOptions& options) {
  LeaseKeeper::Options out;
  out.ns = options.lease_namespace;
  out.node = options.node;
  out.boot_id = options.boot_id;
  out.chain.what = "lease " + options.lease_namespace + "/" + options.node;
  out.chain.seed = options.seed + 1;
  return out;
}

}  // namespace

KubeReporter::KubeReporter(kube::Transport& transport, const Clock& clock,
                           const KubeReporterOptions& options, ReporterEvents events)
    : transport_(transport),
      events_(std::move(events)),
      node_(options.node),
      inventory_(transport, inventory_options(options),
                 {[this] { written(); }, [this](bool yes) { works(inventory_works_, yes); },
                  events_.remembered}),
      lease_(transport, clock, lease_options(options),
             {[this] {
                if (events_.sent) events_.sent(ReportKind::heartbeat);
              },
              [this](bool yes) { works(lease_works_, yes); }}) {}

void KubeReporter::written() {
  if (events_.sent) events_.sent(ReportKind::full);
  if (!std::exchange(leasing_, true)) lease_.start();
}

void KubeReporter::works(bool& part, bool yes) {
  part = yes;
  const bool both = inventory_works_ && lease_works_;
  if (std::exchange(connected_, both) == both) return;
  if (both) obs::log(obs::Level::info, "connected", {{"node", node_}});
  if (events_.connected) events_.connected(both);
}

void KubeReporter::stop(std::function<void()> done) {
  inventory_.stop();
  lease_.stop();
  end_ = transport_.after(std::chrono::milliseconds(0), std::move(done));
}

}  // namespace chipweave::agent
