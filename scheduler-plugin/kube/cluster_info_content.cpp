#include "scheduler-plugin/kube/cluster_info_content.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/mindcluster/ascend_names.hpp"
#include "common/codec/mindcluster/device_content.hpp"
#include "common/codec/mindcluster/told_faults.hpp"

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

// Not of one whose agent's report was withdrawn.
bool is_told_of(const Node& node) {
  return node.has_inventory() && !node.boot_id.empty() && node.topology.vendor() == "ascend";
}

// Takes the fresh value, with a time of its own if it is another one.
template <class Info>
bool replace(std::map<std::string, Info>& all, const std::string& node, Info fresh,
             std::int64_t now) {
  const auto found = all.find(node);
  if (found != all.end()) {
    fresh.update_time = found->second.update_time;
    if (fresh == found->second) return false;
    now = std::max(now, found->second.update_time + 1);
  }
  fresh.update_time = now;
  all.insert_or_assign(node, std::move(fresh));
  return true;
}

template <class Info>
bool renew_time(std::map<std::string, Info>& all, const std::string& node, std::int64_t now) {
  const auto found = all.find(node);
  if (found == all.end() || found->second.update_time >= now) return false;
  found->second.update_time = now;
  return true;
}

}  // namespace

void ClusterInfoContent::told(const std::string& node, Word word) {
  said_.insert_or_assign(node, Said{std::move(word), ++versions_});
}

bool ClusterInfoContent::look(const NodeTable& nodes, const Ledger& ledger, std::int64_t now) {
  ++looks_;
  const bool renew = now - renewed_ >= kRenewAfter;
  if (renew) renewed_ = now;
  bool changed = false;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Node& node = nodes.node(id);
    if (!is_told_of(node)) continue;
    changed = look_at(node, bound_on(ledger, id), renew, now) || changed;
  }
  return forget_unseen() || changed;
}

bool ClusterInfoContent::look_at(const Node& node, ChipSet bound, bool renew, std::int64_t now) {
  const auto said = said_.find(node.name);
  Source source{node.boot_id, node.sequence, bound, said == said_.end() ? 0 : said->second.version};
  const auto [at, fresh] = known_.try_emplace(node.name);
  at->second.look = looks_;
  bool changed = false;
  if (fresh || at->second.source != source) {
    at->second.source = std::move(source);
    changed = describe(node, bound, now);
  }
  if (renew && !node.stale) {
    changed = renew_time(devices_, node.name, now) || changed;
    changed = renew_time(switches_, node.name, now) || changed;
  }
  return changed;
}

bool ClusterInfoContent::describe(const Node& node, ChipSet bound, std::int64_t now) {
  static const Word kNothing;
  const auto said = said_.find(node.name);
  const Word& word = said == said_.end() ? kNothing : said->second.word;
  mc::DeviceInfo device = mc::device_info_of(
      node.topology, {node.unhealthy, node.network_unhealthy, bound}, word.faults);
  device.rack_id = mc::rack_of(node.topology, word.rack);
  bool changed = replace(devices_, node.name, std::move(device), now);
  if (mc::has_super_pod(domain::ascend_family_of(node.topology))) {
    changed = replace(switches_, node.name, mc::switch_faults_of(word.faults, 0), now) || changed;
  } else {
    changed = switches_.erase(node.name) > 0 || changed;
  }
  auto faults = mc::node_faults_of(word.faults);
  if (!faults) return nodes_.erase(node.name) > 0 || changed;
  const auto [at, fresh] = nodes_.try_emplace(node.name);
  if (!fresh && at->second == *faults) return changed;
  at->second = *std::move(faults);
  return true;
}

// Nodes that are gone, or whose inventory was withdrawn.
bool ClusterInfoContent::forget_unseen() {
  const std::size_t gone = std::erase_if(known_, [this](const auto& entry) {
    if (entry.second.look == looks_) return false;
    devices_.erase(entry.first);
    nodes_.erase(entry.first);
    switches_.erase(entry.first);
    return true;
  });
  std::erase_if(said_, [this](const auto& entry) { return !known_.contains(entry.first); });
  return gone > 0;
}

mc::ClusterParts ClusterInfoContent::texts() const {
  mc::ClusterParts out = mc::write_cluster_devices(devices_);
  if (out.empty()) return out;
  out.merge(mc::write_cluster_switches(switches_));
  out[std::string(mc::kClusterNodeName)] = mc::write_cluster_nodes(nodes_);
  return out;
}

}  // namespace chipweave::sched
