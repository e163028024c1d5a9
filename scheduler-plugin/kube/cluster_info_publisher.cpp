#include "scheduler-plugin/kube/cluster_info_publisher.hpp"

#include <utility>

#include "common/base/limits.hpp"
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

void ClusterInfoPublisher::set_report(const std::string& node, std::string_view status) {
  auto health = codec::read_status_health(status);
  if (!health) {
    obs::log(obs::Level::warn, "the faults of a NodeInventory are unreadable",
             {{"node", node}, {"error", health.error().text()}});
    return content_.set_report(node, {});
  }
  content_.set_report(node, {std::move(health->faults), std::move(health->facts[mc::kRackFact])});
}

void ClusterInfoPublisher::tick(const NodeTable& nodes, const Ledger& ledger, bool leads) {
  if (!leads) return kept_.clear();
  const bool first = kept_.empty();
  const auto now = clock_.now();
  if (!first && now < next_update_) return;
  next_update_ = now + options_.every;
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
  const bool changed = content_.update(nodes, ledger, seconds);
  if (first) begin();
  if (first || changed) want(content_.texts());
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
