#include "common/codec/ranktable/modelarts/device_report.hpp"

#include <utility>

#include "common/base/ip_address.hpp"
#include "common/base/limits.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/ranktable/modelarts/device_json.hpp"

namespace chipweave::codec {
namespace {

// IPv6 may name its interface: "fe80::1%eth0".
bool is_address(std::string_view text) {
  const std::size_t scope = text.find('%');
  const auto address = parse_ip(text.substr(0, scope));
  if (!address || scope == std::string_view::npos) return address.has_value();
  return address->v6 && scope + 1 < text.size();
}

}  // namespace

bool is_address_list(std::string_view text) {
  for (std::size_t comma = 0; (comma = text.find(',')) != std::string_view::npos;) {
    if (!is_address(text.substr(0, comma))) return false;
    text.remove_prefix(comma + 1);
  }
  return is_address(text);
}

Result<DeviceReport> parse_device_report(std::string_view json) {
  const Result<Json> value =
      parse_strict_json(json, {limits::kMaxAnnotationBytes, limits::kMaxJsonValues});
  if (!value) return value.error();
  if (!value->is_object()) return network_error("it is no JSON object");
  DeviceReport out;
  Result<std::string> pod = word_at(*value, "pod_name");
  if (!pod) return std::move(pod).error();
  out.pod_name = *std::move(pod);
  Result<std::string> server = server_id_at(*value);
  if (!server) return std::move(server).error();
  out.server_id = *std::move(server);
  const Json* list = json_at(*value, {"devices"});
  if (list == nullptr) list = json_at(*value, {"device"});
  if (list == nullptr || !list->is_array() || list->empty()) {
    return network_error("it has no list \"devices\" (or \"device\") with an NPU");
  }
  Result<std::vector<RouteDevice>> devices = devices_of(*list);
  if (!devices) return std::move(devices).error();
  out.devices = *std::move(devices);
  return out;
}

std::string write_rank_table_annotation(const DeviceReport& report) {
  OrderedJson out;
  out["pod_name"] = report.pod_name;
  out["server_id"] = report.server_id;
  OrderedJson& list = out["device"] = OrderedJson::array();
  for (const RouteDevice& device : report.devices) {
    list.push_back({{"device_id", device.id},
                    {"device_ip", device.ip},
                    {"rank_id", device.rank_id},
                    {"tor_ip", device.tor_ip},
                    {"tor_port", device.tor_port}});
  }
  return compact(out);
}

}  // namespace chipweave::codec
