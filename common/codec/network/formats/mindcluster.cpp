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

constexpr const char* kTor = "tor";
constexpr const char* kTorKey = "tor_info";
constexpr const char* kSuperPods = "super-pod";
constexpr const char* kSuperPodLevel = "super-pod";
constexpr const char* kDeviceKey = "superPodDevice";
constexpr std::string_view kDeviceInfo = "mindx-dl-deviceinfo-";

bool is_tor_info(const Json& value) {
  const Json* list = list_at(value, "server_list");
  return list != nullptr && !list->empty() && list_at(list->front(), "server") != nullptr;
}

// The leaf's address, by which MindCluster tells leaves apart; its number if it has none.
Result<std::string> tor_name(const Json& tor) {
  const std::string address = json_word(json_at(tor, {"tor_ip"})).value_or("");
  if (!address.empty()) return address;
  const auto id = json_word(json_at(tor, {"tor_id"}));
  if (!id) return network_error("neither tor_ip nor tor_id is given");
  return "tor-" + *id;
}

Result<domain::NetworkTable> read_tors(const Json& value, Warnings& warnings) {
  Result<NetworkTableBuilder> builder = NetworkTableBuilder::make({kTor});
  if (!builder) return std::move(builder).error();
  const Json& tors = *list_at(value, "server_list");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < tors.size(); ++i) {
    const std::string where = list_item("server_list", i);
    const Result<std::string> name = tor_name(tors[i]);
    if (!name) return Error(name.error()).in(where);
    if (!seen.insert(*name).second) {
      return network_error("duplicate leaf " + quoted_excerpt(*name)).in(where);
    }
    const Json* servers = list_at(tors[i], "server");
    if (servers == nullptr) return network_error("key \"server\" must be a list").in(where);
    if (servers->empty()) warnings.add("leaf " + quoted_excerpt(*name) + " has no servers");
    for (std::size_t k = 0; k < servers->size(); ++k) {
      const std::string at = where + "." + list_item("server", k);
      const auto address = json_word(json_at((*servers)[k], {"server_ip"}));
      if (!address) return network_error("key \"server_ip\" is missing").in(at);
      if (auto added = builder->add({*address, {*name}, {}, {}}, at); !added) {
        return std::move(added).error();
      }
    }
  }
  return std::move(*builder).take();
}

struct SuperPodMember {
  std::string node;
  std::string super_pod;
  std::string rack;
  std::string where;
};
using SuperPods = std::vector<SuperPodMember>;

Result<Json> json_in(const NetworkObject& map, const std::string& key) {
  const std::string text = json_word(json_at(map.value, {"data", key.c_str()})).value_or("");
  Result<Json> out =
      parse_strict_json(text, {limits::kMaxNetworkFileBytes, limits::kMaxNetworkValues});
  if (!out) return std::move(out).error().in(object_label(map) + ", key " + key);
  return out;
}

// Negative numbers mean "none" or "unknown".
std::string identifier(const Json* value) {
  const std::string text = json_word(value).value_or("");
  return text.starts_with('-') ? "" : text;
}

void read_super_pod_map(const Json& value, const std::string& where, SuperPods& out) {
  const std::string id = identifier(json_at(value, {"SuperPodID"}));
  if (const Json* nodes = json_at(value, {"NodeDeviceMap"});
      nodes != nullptr && nodes->is_object()) {
    for (const auto& [name, unused] : nodes->items()) {
      out.push_back({name, id, "", where + ", NodeDeviceMap." + name});
    }
  }
}

void read_cluster_info(const Json& value, const std::string& where, SuperPods& out) {
  for (const auto& [key, info] : value.items()) {
    if (!std::string_view(key).starts_with(kDeviceInfo)) continue;
    out.push_back({key.substr(kDeviceInfo.size()), identifier(json_at(info, {"SuperPodID"})),
                   identifier(json_at(info, {"RackID"})), where + ", " + key});
  }
}

void read_rank_table(const Json& value, SuperPods& out) {
  const Json& pods = *list_at(value, "super_pod_list");
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const std::string id = json_word(json_at(pods[i], {"super_pod_id"})).value_or("");
    const Json* servers = list_at(pods[i], "server_list");
    if (servers == nullptr) continue;
    for (std::size_t k = 0; k < servers->size(); ++k) {
      out.push_back({json_word(json_at((*servers)[k], {"server_id"})).value_or(""), id, "",
                     list_item("super_pod_list", i) + "." + list_item("server_list", k)});
    }
  }
}

bool is_cluster_info(const std::string& key) { return key.starts_with("cluster-info-device-"); }

Result<SuperPods> collect(const NetworkObjects& objects) {
  SuperPods out;
  for (const NetworkObject& object : objects) {
    if (list_at(object.value, "super_pod_list") != nullptr) read_rank_table(object.value, out);
    const Json* data = json_at(object.value, {"data"});
    if (data == nullptr || !data->is_object()) continue;
    for (const auto& [key, text] : data->items()) {
      if (!text.is_string() || (key != kDeviceKey && !is_cluster_info(key))) continue;
      const Result<Json> value = json_in(object, key);
      if (!value) return value.error();
      if (!value->is_object()) continue;
      const std::string where = object_label(object);
      if (key == kDeviceKey) read_super_pod_map(*value, where, out);
      if (is_cluster_info(key)) read_cluster_info(*value, where, out);
    }
  }
  return out;
}

}  // namespace

bool looks_like_tor_info(const NetworkObjects& objects) {
  if (find_config_map(objects, kTorKey) != nullptr) return true;
  const Json* value = only_object(objects);
  return value != nullptr && is_tor_info(*value);
}

Result<ImportedNetwork> import_tor_info(const NetworkObjects& objects,
                                        const NetworkImportOptions& /*options*/) {
  Json value;
  std::string where;
  if (const NetworkObject* map = find_config_map(objects, kTorKey)) {
    Result<Json> read = json_in(*map, kTorKey);
    if (!read) return std::move(read).error();
    value = *std::move(read);
    where = object_label(*map) + ", key " + kTorKey;
  } else if (const Json* only = only_object(objects)) {
    value = *only;
  }
  if (list_at(value, "server_list") == nullptr) {
    return located(not_this_format(kTor, "list server_list of leaf switches with their servers"),
                   where);
  }
  Warnings warnings;
  Result<domain::NetworkTable> table = read_tors(value, warnings);
  if (!table) return located(std::move(table).error(), where);
  return ImportedNetwork{*std::move(table), kTor, std::move(warnings).list()};
}

bool looks_like_super_pods(const NetworkObjects& objects) {
  return std::any_of(objects.begin(), objects.end(), [](const NetworkObject& object) {
    if (list_at(object.value, "super_pod_list") != nullptr) return true;
    const Json* data = json_at(object.value, {"data"});
    if (data == nullptr || !data->is_object()) return false;
    const auto items = data->items();
    return std::any_of(items.begin(), items.end(), [](const auto& entry) {
      return entry.key() == kDeviceKey || is_cluster_info(entry.key());
    });
  });
}

Result<ImportedNetwork> import_super_pods(const NetworkObjects& objects,
                                          const NetworkImportOptions& /*options*/) {
  const Result<SuperPods> found = collect(objects);
  if (!found) return found.error();
  if (found->empty()) return not_this_format(kSuperPods, "super-pod with nodes");
  const bool racks = std::any_of(found->begin(), found->end(),
                                 [](const SuperPodMember& one) { return !one.rack.empty(); });
  std::vector<std::string> levels{kSuperPodLevel};
  if (racks) levels.emplace_back("rack");
  Result<NetworkTableBuilder> builder = NetworkTableBuilder::make({}, std::move(levels));
  if (!builder) return std::move(builder).error();
  for (const SuperPodMember& one : *found) {
    domain::NetworkNode node{one.node, {}, {}, {one.super_pod}};
    if (racks) node.accelerator.push_back(one.rack);
    if (auto added = builder->add(std::move(node), one.where); !added) {
      return std::move(added).error();
    }
  }
  return ImportedNetwork{
      std::move(*builder).take(),
      kSuperPods,
      {"super-pods are the accelerators' own interconnect; the file does not describe the network "
       "between nodes, so there are no levels"}};
}

}  // namespace chipweave::codec
