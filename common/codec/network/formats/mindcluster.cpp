// MindCluster: tor_info of ConfigMap basic-tor-node-cm (leaf switches and their servers), and
// super-pods: rank tables with super_pod_list, ConfigMaps super-pod-N and cluster-info-device-N.
#include <algorithm>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/warnings.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kTorKey = "tor_info";
constexpr const char* kSuperPodLevel = "super-pod";
constexpr const char* kDeviceKey = "superPodDevice";
constexpr std::string_view kDeviceInfo = "mindx-dl-deviceinfo-";

bool is_tor_info(JsonValue value) {
  return static_cast<bool>(list_at(*list_at(value, "server_list").begin(), "server"));
}

// The leaf's address, by which MindCluster tells leaves apart; its number if it has none.
Result<std::string> tor_name(JsonValue tor) {
  const std::string address = text_or_empty(tor["tor_ip"]);
  if (!address.empty()) return address;
  const auto id = text_or_integer(tor["tor_id"]);
  if (!id) return network_error("neither tor_ip nor tor_id is given");
  return "tor-" + *id;
}

Result<domain::NetworkTable> read_tors(JsonValue value, Warnings& warnings) {
  const JsonValue tors = list_at(value, "server_list");
  if (!tors) {
    return not_this_format(kTorFormat.name, "list server_list of leaf switches with their servers");
  }
  NetworkTableBuilder builder({"tor"});
  std::set<std::string> seen;
  std::size_t i = 0;
  for (const JsonValue tor : tors) {
    const std::string where = list_item("server_list", i++);
    const Result<std::string> name = tor_name(tor);
    if (!name) return Error(name.error()).in(where);
    if (!seen.insert(*name).second) {
      return network_error("duplicate leaf " + quoted_excerpt(*name)).in(where);
    }
    const JsonValue servers = list_at(tor, "server");
    if (!servers) return network_error("key \"server\" must be a list").in(where);
    if (servers.empty()) warnings.add("leaf " + quoted_excerpt(*name) + " has no servers");
    std::size_t k = 0;
    for (const JsonValue server : servers) {
      const std::string at = where + "." + list_item("server", k++);
      const auto address = text_or_integer(server["server_ip"]);
      if (!address) return network_error("key \"server_ip\" is missing").in(at);
      if (!builder.add({*address, {*name}, {}, {}}, at)) return std::move(builder).take();
    }
  }
  return std::move(builder).take();
}

struct SuperPodMember {
  std::string node;
  std::string super_pod;
  std::string rack;
  std::string where;
};
using SuperPods = std::vector<SuperPodMember>;

// `text`: the value of a ConfigMap's key.
Result<JsonTree> json_in(JsonValue text, const std::string& where) {
  Result<JsonTree> out =
      parse_json(text.text(), {limits::kMaxNetworkFileBytes, limits::kMaxNetworkValues});
  if (!out) return std::move(out).error().in(where);
  return out;
}

std::string key_label(const NetworkObject& map, std::string_view key) {
  return object_label(map) + ", key " + std::string(key);
}

// Negative numbers mean "none" or "unknown".
std::string identifier(JsonValue value) {
  const std::string text = text_or_empty(value);
  return text.starts_with('-') ? "" : text;
}

void read_super_pod_map(JsonValue value, const std::string& where, SuperPods& out) {
  const std::string id = identifier(value["SuperPodID"]);
  for (const JsonValue node : members_by_name(value["NodeDeviceMap"])) {
    const std::string name(node.name());
    out.push_back({name, id, "", where + ", NodeDeviceMap." + name});
  }
}

void read_cluster_info(JsonValue value, const std::string& where, SuperPods& out) {
  for (const JsonValue info : members_by_name(value)) {
    const std::string key(info.name());
    if (!key.starts_with(kDeviceInfo)) continue;
    out.push_back({key.substr(kDeviceInfo.size()), identifier(info["SuperPodID"]),
                   identifier(info["RackID"]), where + ", " + key});
  }
}

void read_rank_table(JsonValue value, SuperPods& out) {
  std::size_t i = 0;
  for (const JsonValue pod : list_at(value, "super_pod_list")) {
    const std::string id = text_or_empty(pod["super_pod_id"]);
    const std::string where = list_item("super_pod_list", i++) + ".";
    std::size_t k = 0;
    for (const JsonValue server : list_at(pod, "server_list")) {
      out.push_back(
          {text_or_empty(server["server_id"]), id, "", where + list_item("server_list", k++)});
    }
  }
}

bool is_cluster_info(std::string_view key) { return key.starts_with("cluster-info-device-"); }

Result<SuperPods> collect(const NetworkObjects& objects) {
  SuperPods out;
  for (const NetworkObject& object : objects) {
    read_rank_table(object.value, out);
    for (const JsonValue text : members_by_name(object.value["data"])) {
      const bool is_map = text.name() == kDeviceKey;
      if (!text.is_string() || (!is_map && !is_cluster_info(text.name()))) continue;
      const Result<JsonTree> tree = json_in(text, key_label(object, text.name()));
      if (!tree) return tree.error();
      const auto read = is_map ? read_super_pod_map : read_cluster_info;
      read(JsonValue(*tree), object_label(object), out);
    }
  }
  return out;
}

bool looks_like_tor_info(const NetworkObjects& objects) {
  return find_config_map(objects, kTorKey) != nullptr || is_tor_info(only_object(objects));
}

Result<domain::NetworkTable> import_tor_info(const NetworkObjects& objects,
                                             const std::vector<std::string>& /*levels*/,
                                             Warnings& warnings) {
  const NetworkObject* map = find_config_map(objects, kTorKey);
  if (map == nullptr) return read_tors(only_object(objects), warnings);
  const std::string where = key_label(*map, kTorKey);
  const Result<JsonTree> tree = json_in(map->value["data"][kTorKey], where);
  if (!tree) return tree.error();
  Result<domain::NetworkTable> out = read_tors(JsonValue(*tree), warnings);
  if (!out) return std::move(out).error().in(where);
  return out;
}

bool looks_like_super_pods(const NetworkObjects& objects) {
  return std::any_of(objects.begin(), objects.end(), [](const NetworkObject& object) {
    const JsonValue data = object.value["data"];
    return list_at(object.value, "super_pod_list") ||
           std::any_of(data.begin(), data.end(), [](JsonValue entry) {
             return entry.name() == kDeviceKey || is_cluster_info(entry.name());
           });
  });
}

Result<domain::NetworkTable> import_super_pods(const NetworkObjects& objects,
                                               const std::vector<std::string>& /*levels*/,
                                               Warnings& warnings) {
  const Result<SuperPods> found = collect(objects);
  if (!found) return found.error();
  if (found->empty()) return not_this_format(kSuperPodFormat.name, "super-pod with nodes");
  const bool racks = std::any_of(found->begin(), found->end(),
                                 [](const SuperPodMember& one) { return !one.rack.empty(); });
  std::vector<std::string> levels{kSuperPodLevel};
  if (racks) levels.emplace_back("rack");
  NetworkTableBuilder builder({}, std::move(levels));
  for (const SuperPodMember& one : *found) {
    domain::NetworkNode node{one.node, {}, {}, {one.super_pod}};
    if (racks) node.accelerator.push_back(one.rack);
    builder.add(std::move(node), one.where);
  }
  warnings.add(
      "super-pods are the accelerators' own interconnect; the file does not describe the network "
      "between nodes, so there are no levels");
  return std::move(builder).take();
}

}  // namespace

const ObjectFormat kTorFormat{"tor", looks_like_tor_info, import_tor_info};
const ObjectFormat kSuperPodFormat{"super-pod", looks_like_super_pods, import_super_pods};

}  // namespace chipweave::codec
