#include "scheduler-plugin/cluster_info/publisher.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/kube/inventory/inventory_health.hpp"
#include "common/codec/mindcluster/node/device_content.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

namespace mc = codec::mindcluster;

// The maximum number of parts, since an earlier leader may have written any of them.
constexpr std::size_t parts_of(std::size_t most) { return (limits::kMaxNodes + most - 1) / most; }

}  // namespace

ClusterInfoPublisher::ClusterInfoPublisher(kube::Transport& transport, const Clock& clock,
                                           Options options)
    : transport_(transport), clock_(clock), options_(std::move(options)) {}

void ClusterInfoPublisher::watch() {
  content_.begin_again();
  passing_ = false;
  kube::Reflector<codec::KubeInventory>::Options options;
  options.path = codec::kInventoryPath;
  inventories_ = std::make_unique<kube::Reflector<codec::KubeInventory>>(
      transport_, std::move(options),
      kube::Reflector<codec::KubeInventory>::Events{
          {[this](codec::KubeInventory&& seen) { take(seen); },
           [this](const std::string& node) { content_.set_report(node, {}); }},
          [] {},
          [](const kube::WatchFailure& failure) {
            obs::log(obs::Level::warn, "the watch for cluster-info failed",
                     {{"problem", failure.what}});
          }},
      options_.jitter);
  inventories_->start();
}

// Unreadable parts count as absent.
void ClusterInfoPublisher::take(const codec::KubeInventory& seen) {
  if (seen.status.empty()) return;
  auto health = codec::read_status_health(seen.status);
  if (!health) {
    obs::log(obs::Level::warn, "the faults of a NodeInventory are unreadable",
             {{"node", seen.name}, {"error", health.error().text()}});
    return content_.set_report(seen.name, {});
  }
  content_.set_report(seen.name,
                      {std::move(health->faults), std::move(health->facts[mc::kRackFact])});
}

void ClusterInfoPublisher::tick(const NodeTable& nodes, const Ledger& ledger, bool leads) {
  if (!leads) {
    kept_.clear();
    inventories_.reset();
    return;
  }
  if (!inventories_) watch();
  // until then faults are unknown, and must not be published as none
  if (!inventories_->synced()) return;
  const auto now = clock_.now();
  const bool first = kept_.empty();
  if (!passing_ && !first && now < next_pass_) return;
  if (!std::exchange(passing_, true)) next_pass_ = now + options_.every;
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
  const auto pass = content_.go_on(nodes, ledger, seconds, kEntriesATick);
  if (pass == ClusterInfoContent::Pass::unfinished) return;
  passing_ = false;
  if (first) begin();
  if (first || pass == ClusterInfoContent::Pass::changed) want(content_.texts());
  if (!first) return;
  for (auto& [name, kept] : kept_) kept.keeper->start();
}

void ClusterInfoPublisher::begin() {
  for (std::size_t i = 0; i < parts_of(mc::kMaxDevicesOfPart); ++i) {
    add(std::string(mc::kClusterDevicePrefix) + std::to_string(i));
  }
  for (std::size_t i = 0; i < parts_of(mc::kMaxSwitchesOfPart); ++i) {
    add(std::string(mc::kClusterSwitchPrefix) + std::to_string(i));
  }
  add(std::string(mc::kClusterNodeName));
}

void ClusterInfoPublisher::add(const std::string& name) {
  kube::ConfigMapKeeper::Options options;
  options.ns = mc::kClusterInfoNamespace;
  options.name = name;
  options.managed_by = "chipweave-scheduler";
  options.write_gap = options_.every;
  options.may_send = options_.may_send;
  options.chain.what = "configmap " + options.ns + "/" + name;
  options.chain.seed = options_.seed + kept_.size();
  kept_[name].keeper = std::make_unique<kube::ConfigMapKeeper>(
      transport_, clock_, std::move(options),
      kube::ConfigMapKeeper::Events{nullptr, [](bool /*works*/) {}});
}

void ClusterInfoPublisher::want(const ClusterInfoContent::Texts& texts) {
  for (auto& [name, kept] : kept_) {
    const auto found = texts.find(name);
    const auto text = found == texts.end() ? nullptr : found->second;
    if (text == kept.text) continue;
    kept.text = text;
    if (!text) {
      kept.keeper->want(std::nullopt);
      continue;
    }
    kube::ConfigMapKeeper::Wanted content;
    content.labels[std::string(mc::kClusterInfoLabel)] = "true";
    content.data = [key = name, text](std::int64_t) { return codec::StringMap{{key, *text}}; };
    kept.keeper->want(std::move(content));
  }
}

}  // namespace chipweave::sched
