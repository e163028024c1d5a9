#include "scheduler-plugin/cluster_info/content.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/mindcluster/ascend_names.hpp"
#include "common/codec/mindcluster/faults/reported_faults.hpp"
#include "common/codec/mindcluster/node/device_content.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::sched {
namespace {

namespace mc = codec::mindcluster;

ChipSet bound_on(const Ledger& ledger, NodeId node) {
  ChipSet out;
  for (const Holding* holding : ledger.on(node)) {
    if (holding->bound) out |= holding->chips;
  }
  return out;
}

// Nodes whose report was withdrawn are not listed.
bool is_listed(const Node& node) {
  return node.has_inventory() && !node.boot_id.empty() &&
         domain::vendor_of(node.topology).in_mindcluster;
}

}  // namespace

ClusterInfoContent::ClusterInfoContent()
    : devices_(mc::kClusterDevicePrefix, mc::kMaxDevicesOfPart),
      switches_(mc::kClusterSwitchPrefix, mc::kMaxSwitchesOfPart),
      nodes_("", limits::kMaxNodes) {}

void ClusterInfoContent::set_report(const std::string& node, AgentReport report) {
  if (report.faults.empty() && report.rack.empty()) {
    reports_.erase(node);
  } else if (reports_.size() < limits::kMaxNodes || reports_.contains(node)) {
    reports_.insert_or_assign(node, KnownReport{std::move(report), ++versions_});
  }
}

void ClusterInfoContent::begin_again() {
  reports_.clear();
  next_ = 0;
}

const ClusterInfoContent::KnownReport& ClusterInfoContent::report_of(
    const std::string& node) const {
  static const KnownReport kNothing;
  const auto found = reports_.find(node);
  return found == reports_.end() ? kNothing : found->second;
}

ClusterInfoContent::Pass ClusterInfoContent::go_on(const NodeTable& nodes, const Ledger& ledger,
                                                   std::int64_t now, std::size_t most) {
  known_.resize(nodes.size());
  if (next_ == 0) changed_ = forget(nodes);
  for (; next_ < nodes.size(); ++next_) {
    const Node& node = nodes.node(next_);
    Known& known = known_[next_];
    // another node has taken the id during this pass: forget() clears up before the next one
    if (!is_listed(node) || (!known.name.empty() && known.name != node.name)) continue;
    const ChipSet bound = bound_on(ledger, next_);
    const KnownReport& report = report_of(node.name);
    if (!known.name.empty() && known.boot_id == node.boot_id && known.sequence == node.sequence &&
        known.bound == bound && known.report == report.version)
      continue;
    if (most-- == 0) return Pass::unfinished;
    known = {node.name, node.boot_id, node.sequence, bound, report.version};
    changed_ = describe(node, bound, report.report, now) || changed_;
  }
  next_ = 0;
  const auto lives = [&](const std::string& name) {
    const NodeId id = nodes.find(name);
    return id != kNoNode && !nodes.node(id).stale;
  };
  changed_ = devices_.renew(now, kRenewAfter, lives) || changed_;
  changed_ = switches_.renew(now, kRenewAfter, lives) || changed_;
  return changed_ ? Pass::changed : Pass::unchanged;
}

// Removes nodes that are gone or whose inventory was withdrawn. Runs first, because a name may have
// moved to another id.
bool ClusterInfoContent::forget(const NodeTable& nodes) {
  bool any = false;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    Known& known = known_[id];
    if (known.name.empty()) continue;
    const Node& node = nodes.node(id);
    if (node.name == known.name && is_listed(node)) continue;
    devices_.erase(known.name);
    switches_.erase(known.name);
    nodes_.erase(known.name);
    // it moved during the last pass: the entry was this one
    const NodeId moved = nodes.find(known.name);
    if (moved != kNoNode && known_[moved].name == known.name) known_[moved] = {};
    known = {};
    any = true;
  }
  return any;
}

bool ClusterInfoContent::describe(const Node& node, ChipSet bound, const AgentReport& report,
                                  std::int64_t now) {
  mc::DeviceInfo device = mc::device_info_of(
      node.topology, {node.unhealthy, node.network_unhealthy, bound}, report.faults);
  device.rack_id = mc::rack_of(node.topology, report.rack);
  const auto put = [&](mc::ClusterTexts& in, auto&& info) {
    return in.put(node.name, mc::cluster_entry(node.name, std::forward<decltype(info)>(info)), now);
  };
  bool changed = put(devices_, std::move(device));
  if (mc::has_super_pod(domain::ascend_family_of(node.topology))) {
    changed = put(switches_, mc::switch_faults_of(report.faults, 0)) || changed;
  } else {
    changed = switches_.erase(node.name) || changed;
  }
  const auto faults = mc::node_faults_of(report.faults);
  return (faults ? put(nodes_, *faults) : nodes_.erase(node.name)) || changed;
}

ClusterInfoContent::Texts ClusterInfoContent::texts() {
  Texts out = devices_.texts();
  if (out.empty()) return out;
  const Texts& switches = switches_.texts();
  out.insert(switches.begin(), switches.end());
  const Texts& nodes = nodes_.texts();
  out[std::string(mc::kClusterNodeName)] = nodes.empty() ? no_faults_ : nodes.begin()->second;
  return out;
}

}  // namespace chipweave::sched
