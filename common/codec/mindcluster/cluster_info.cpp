#include "common/codec/mindcluster/cluster_info.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/node/cluster_entries.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::mindcluster {
namespace {

Result<DeviceInfo> device_entry(JsonValue value) {
  Result<DeviceInfo> out = device_list_of(value);
  if (!out) return out;
  const Result<void> placed = add_place(*out, value);
  if (!placed) return placed.error();
  return out;
}

void warn(std::vector<std::string>& warnings, std::string text) {
  if (warnings.size() < kMaxClusterWarnings) warnings.push_back(std::move(text));
}

template <class T, class Read>
Result<ClusterInfo<T>> collect(std::string_view text, std::string_view prefix, Read read) {
  ClusterInfo<T> out;
  if (text.empty()) return out;
  const Result<JsonTree> document = parse_document(text);
  if (!document) return document.error();
  const JsonValue map(*document);
  if (!map.is_object() || map.size() > kMaxClusterEntries) {
    return make_error(Errc::invalid_argument, "must be a JSON object of at most " +
                                                  std::to_string(kMaxClusterEntries) + " nodes");
  }
  for (const JsonValue value : map) {
    const std::string_view name = value.name();
    if (!name.starts_with(prefix) || name.size() == prefix.size()) {
      warn(out.warnings, quoted_excerpt(name) + " is ignored: expected " + std::string(prefix) +
                             " and the name of a node");
      continue;
    }
    Result<T> entry = read(value);
    if (entry) {
      out.nodes.emplace(name.substr(prefix.size()), *std::move(entry));
    } else {
      warn(out.warnings, entry.error().text());
    }
  }
  return out;
}

// The members of the object that a writer has begun. time_at: offset of the placeholder of the
// time; 0: there is none.
ClusterEntry split(const std::string& text, std::size_t time_at) {
  const std::string_view whole = std::string_view(text).substr(1);
  if (time_at == 0) return {go_form(whole), "", false};
  return {go_form(whole.substr(0, time_at - 1)), go_form(whole.substr(time_at)), true};
}

}  // namespace

ClusterEntry cluster_entry(const std::string& node, DeviceInfo info) {
  info.update_time = 0;
  const std::string name = std::string(kDeviceInfoPrefix) + node;
  JsonWriter out;
  out.begin_object().key(name).begin_object();
  append_device_list(out, info);
  const std::size_t time_at = out.text().size() - 1;
  out.field("CmName", name).key("SuperPodID").integer(info.super_pod_id);
  if (info.rack_id) out.key("RackID").integer(*info.rack_id);
  out.key("ServerIndex").integer(info.server_index).end_object();
  return split(out.text(), time_at);
}

ClusterEntry cluster_entry(const std::string& node, SwitchInfo info) {
  info.update_time = 0;
  const std::string name = std::string(kSwitchEntryPrefix) + node;
  JsonWriter out;
  out.begin_object().key(name).begin_object();
  const std::size_t time_at = append_switch_info(out, info);
  out.field("CmName", name).end_object();
  return split(out.text(), time_at);
}

ClusterEntry cluster_entry(const std::string& node, const NodeInfo& info) {
  const std::string name = std::string(kNodeInfoPrefix) + node;
  JsonWriter out;
  out.begin_object().key(name).begin_object();
  append_node_info(out, info);
  out.field("CmName", name).end_object();
  return split(out.text(), 0);
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
