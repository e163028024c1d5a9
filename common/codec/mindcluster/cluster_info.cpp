#include "common/codec/mindcluster/cluster_info.hpp"

#include <algorithm>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/natural_order.hpp"
#include "common/codec/mindcluster/device_members.hpp"
#include "common/codec/mindcluster/node_members.hpp"
#include "common/codec/mindcluster/switch_members.hpp"
#include "common/codec/topology/text_quote.hpp"

namespace chipweave::codec::mindcluster {
namespace {

Result<DeviceInfo> device_entry(const Json& value, const std::string& path) {
  Result<DeviceInfo> out = device_list_of(value, path);
  if (!out) return out;
  const Result<void> placed = add_place(*out, value, path);
  if (!placed) return placed.error();
  return out;
}

void warn(std::vector<std::string>& warnings, std::string text) {
  if (warnings.size() < kMostClusterWarnings) warnings.push_back(std::move(text));
}

template <class T, class Read>
Result<ClusterInfo<T>> collect(std::string_view text, std::string_view prefix, Read read) {
  ClusterInfo<T> out;
  if (text.empty()) return out;
  const Result<Json> map = parse_text(text);
  if (!map) return map.error();
  if (!map->is_object() || map->size() > kMostClusterEntries) {
    return make_error(Errc::invalid_argument, "is no JSON object of at most " +
                                                  std::to_string(kMostClusterEntries) + " nodes");
  }
  for (const auto& [name, value] : map->items()) {
    const std::string path = quoted_excerpt(name);
    if (!name.starts_with(prefix) || name.size() == prefix.size()) {
      warn(out.warnings, path + " is passed over: it does not begin with " + std::string(prefix) +
                             " and name a node");
      continue;
    }
    Result<T> entry = read(value, path);
    if (entry) {
      out.nodes.emplace(name.substr(prefix.size()), *std::move(entry));
    } else {
      warn(out.warnings, entry.error().text());
    }
  }
  return out;
}

void append_entry(JsonWriter& out, const DeviceInfo& info, const std::string& name) {
  append_device_list(out, info);
  out.field("CmName", name).key("SuperPodID").integer(info.super_pod_id);
  if (info.rack_id) out.key("RackID").integer(*info.rack_id);
  out.key("ServerIndex").integer(info.server_index);
}

void append_entry(JsonWriter& out, const NodeInfo& info, const std::string& name) {
  append_node_info(out, info);
  out.field("CmName", name);
}

void append_entry(JsonWriter& out, const SwitchInfo& info, const std::string& name) {
  append_switch_info(out, info);
  out.field("CmName", name);
}

template <class T>
using NodeOf = const std::pair<const std::string, T>*;

// Keys ascending by bytes, as Go writes a map.
template <class T>
std::string map_text(std::vector<NodeOf<T>> nodes, std::string_view prefix) {
  std::sort(nodes.begin(), nodes.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  JsonWriter out;
  out.begin_object();
  for (const auto* node : nodes) {
    const std::string name = std::string(prefix) + node->first;
    out.key(name).begin_object();
    append_entry(out, node->second, name);
    out.end_object();
  }
  out.end_object();
  return go_form(out.text());
}

template <class T>
std::vector<NodeOf<T>> in_natural_order(const std::map<std::string, T>& nodes) {
  std::vector<NodeOf<T>> out;
  out.reserve(nodes.size());
  for (const auto& node : nodes) out.push_back(&node);
  std::sort(out.begin(), out.end(),
            [](const auto* a, const auto* b) { return natural_less(a->first, b->first); });
  return out;
}

template <class T>
ClusterParts parts_of(const std::map<std::string, T>& nodes, std::string_view part,
                      std::size_t most, std::string_view prefix) {
  const std::vector<NodeOf<T>> all = in_natural_order(nodes);
  ClusterParts out;
  for (std::size_t from = 0; from < all.size(); from += most) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
    const auto count = static_cast<std::ptrdiff_t>(std::min(most, all.size() - from));
    out[std::string(part) + std::to_string(from / most)] =
        map_text<T>({begin, begin + count}, prefix);
  }
  return out;
}

}  // namespace

ClusterParts write_cluster_devices(const std::map<std::string, DeviceInfo>& nodes) {
  return parts_of(nodes, kClusterDevicePrefix, kMostDevicesOfPart, kDeviceInfoPrefix);
}

ClusterParts write_cluster_switches(const std::map<std::string, SwitchInfo>& nodes) {
  return parts_of(nodes, kClusterSwitchPrefix, kMostSwitchesOfPart, kSwitchEntryPrefix);
}

std::string write_cluster_nodes(const std::map<std::string, NodeInfo>& nodes) {
  return nodes.empty() ? std::string() : map_text(in_natural_order(nodes), kNodeInfoPrefix);
}

Result<ClusterInfo<DeviceInfo>> read_cluster_devices(std::string_view text) {
  return collect<DeviceInfo>(text, kDeviceInfoPrefix, device_entry);
}

Result<ClusterInfo<NodeInfo>> read_cluster_nodes(std::string_view text) {
  return collect<NodeInfo>(text, kNodeInfoPrefix, node_info_of);
}

Result<ClusterInfo<SwitchInfo>> read_cluster_switches(std::string_view text) {
  return collect<SwitchInfo>(text, kSwitchEntryPrefix, switch_info_of);
}

}  // namespace chipweave::codec::mindcluster
