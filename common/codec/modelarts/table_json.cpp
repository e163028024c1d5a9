#include "common/codec/modelarts/table_json.hpp"

#include <utility>

#include "common/codec/modelarts/device_json.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/topology/text_quote.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kCompleted = "completed";
constexpr const char* kInitializing = "initializing";
constexpr std::size_t kMaxTableValues = 12'000'000;

OrderedJson json_of(const RouteDevice& device) {
  OrderedJson out;
  out["device_id"] = device.id;
  if (!device.super_device_id.empty()) out["super_device_id"] = device.super_device_id;
  out["device_ip"] = device.ip;
  out["rank_id"] = device.rank_id;
  if (device.tor_ip.empty()) return out;
  out["tor_ip"] = device.tor_ip;
  out["tor_port"] = device.tor_port;
  return out;
}

OrderedJson json_of(const TableServer& server) {
  OrderedJson out;
  if (!server.pod_name.empty()) out["pod_name"] = server.pod_name;
  out["server_id"] = server.server_id;
  OrderedJson& devices = out["device"] = OrderedJson::array();
  for (const RouteDevice& device : server.devices) devices.push_back(json_of(device));
  return out;
}

OrderedJson json_of(const TableSuperPod& pod) {
  OrderedJson servers = OrderedJson::array();
  for (const std::string& id : pod.server_ids) servers.push_back({{"server_id", id}});
  OrderedJson out;
  out["super_pod_id"] = pod.id;
  out["server_list"] = std::move(servers);
  return out;
}

// Null if absent or no list.
const Json* list_at(const Json& value, const char* key) {
  const Json* list = json_at(value, {key});
  return list != nullptr && list->is_array() ? list : nullptr;
}

Result<TableServer> server_of(const Json& value) {
  TableServer out;
  Result<std::string> pod = word_at(value, "pod_name");
  if (!pod) return std::move(pod).error();
  out.pod_name = *std::move(pod);
  Result<std::string> id = server_id_at(value);
  if (!id) return std::move(id).error();
  out.server_id = *std::move(id);
  const Json* list = list_at(value, "device");
  if (list == nullptr) return network_error("it has no list device");
  Result<std::vector<RouteDevice>> devices = devices_of(*list);
  if (!devices) return std::move(devices).error();
  out.devices = *std::move(devices);
  return out;
}

Result<TableSuperPod> super_pod_of(const Json& value) {
  TableSuperPod out;
  Result<std::string> id = word_at(value, "super_pod_id");
  if (!id) return std::move(id).error();
  out.id = *std::move(id);
  const Json* servers = list_at(value, "server_list");
  if (out.id.empty() || servers == nullptr)
    return network_error("it has no super_pod_id or no server_list");
  for (const Json& server : *servers) {
    Result<std::string> server_id = server_id_at(server);
    if (!server_id) return std::move(server_id).error();
    out.server_ids.push_back(*std::move(server_id));
  }
  return out;
}

template <class Item, class Read>
Result<std::vector<Item>> read_list(const Json& value, const char* key, const Read& read) {
  std::vector<Item> out;
  const Json* list = list_at(value, key);
  if (list == nullptr) return out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    Result<Item> item = read((*list)[i]);
    if (!item) {
      return std::move(item).error().in(std::string(key) + "[" + std::to_string(i) + "]");
    }
    out.push_back(*std::move(item));
  }
  return out;
}

}  // namespace

std::string write_job_table(const JobTable& table) {
  OrderedJson out;
  out["status"] = table.completed ? kCompleted : kInitializing;
  out["version"] = table.version;
  out["server_count"] = std::to_string(table.servers.size());
  OrderedJson& servers = out["server_list"] = OrderedJson::array();
  for (const TableServer& server : table.servers) servers.push_back(json_of(server));
  if (table.super_pods.empty()) return compact(out);
  OrderedJson& super_pods = out["super_pod_list"] = OrderedJson::array();
  for (const TableSuperPod& pod : table.super_pods) super_pods.push_back(json_of(pod));
  return compact(out);
}

Result<JobTable> read_job_table(std::string_view json) {
  const Result<Json> value = parse_strict_json(json, {kMaxTableBytes, kMaxTableValues});
  if (!value) return value.error();
  const Result<std::string> status = word_at(*value, "status");
  if (!status) return status.error();
  if (*status != kCompleted && *status != kInitializing) {
    return network_error("its status is " + quoted_excerpt(*status) +
                         ": a table says completed or initializing");
  }
  JobTable out;
  out.completed = *status == kCompleted;
  Result<std::string> version = word_at(*value, "version");
  if (!version) return std::move(version).error();
  if (!version->empty()) out.version = *std::move(version);
  auto servers = read_list<TableServer>(*value, "server_list", server_of);
  if (!servers) return std::move(servers).error();
  out.servers = *std::move(servers);
  if (out.completed && out.servers.empty())
    return network_error("it is completed, but its server_list is missing or empty");
  auto super_pods = read_list<TableSuperPod>(*value, "super_pod_list", super_pod_of);
  if (!super_pods) return std::move(super_pods).error();
  out.super_pods = *std::move(super_pods);
  return out;
}

}  // namespace chipweave::codec
