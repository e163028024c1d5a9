#include "common/codec/mindcluster/cluster_info.hpp"

#include <utility>

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

}  // namespace

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
