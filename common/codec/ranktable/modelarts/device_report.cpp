#include "common/codec/ranktable/modelarts/device_report.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/ip_address.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/natural_order.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxServerIdBytes = 64;  // HCCL's limit

// The text under a key, or a whole number as text; "" if absent. Errors: another type, longer than
// limits::kMaxNameBytes, control characters.
Result<std::string> text_at(JsonValue object, const char* key) {
  const JsonValue value = object[key];
  if (!value || value.is_null()) return std::string();
  auto text = text_or_integer(value);
  if (!text) return network_error(concat(key, " must be text"));
  if (text->size() > limits::kMaxNameBytes) {
    return network_error(concat(key, " is longer than ", limits::kMaxNameBytes, " bytes"));
  }
  const bool control = std::any_of(text->begin(), text->end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control) return network_error(concat(key, " must not contain control characters"));
  return *std::move(text);
}

Result<std::string> server_id_at(JsonValue object) {
  Result<std::string> id = text_at(object, "server_id");
  if (!id) return id;
  if (id->empty()) return network_error("server_id, the name of the machine, is missing");
  if (id->size() > kMaxServerIdBytes) {
    return network_error(
        concat("server_id ", quoted_excerpt(*id), " is longer than ", kMaxServerIdBytes, " bytes"));
  }
  return id;
}

// A decimal number without sign and leading zeros.
bool is_plain_number(const std::string& text) {
  constexpr std::int64_t kMaxId = 9'999'999'999;  // ids have 32 bits: ten digits
  return whole_number(text, kMaxId).has_value();
}

Result<RouteDevice> device_of(JsonValue value) {
  if (!value.is_object()) return network_error("expected an object");
  struct Member {
    const char* key;
    std::string RouteDevice::*field;
  };
  static constexpr std::array<Member, 6> kMembers = {{
      {"device_id", &RouteDevice::id},
      {"device_ip", &RouteDevice::ip},
      {"super_device_id", &RouteDevice::super_device_id},
      {"rank_id", &RouteDevice::rank_id},
      {"tor_ip", &RouteDevice::tor_ip},
      {"tor_port", &RouteDevice::tor_port},
  }};
  RouteDevice out;
  for (const Member& member : kMembers) {
    Result<std::string> text = text_at(value, member.key);
    if (!text) return std::move(text).error();
    out.*member.field = *std::move(text);
  }
  if (!is_plain_number(out.id)) {
    return network_error(out.id.empty() ? "device_id is missing"
                                        : "device_id must be a decimal number such as \"0\", got " +
                                              quoted_excerpt(out.id));
  }
  // Negative, e.g. "-1": not in a super pod.
  if (!is_plain_number(out.super_device_id)) out.super_device_id.clear();
  return out;
}

// Ascending by id. Errors name the device.
Result<std::vector<RouteDevice>> devices_of(JsonValue list) {
  if (list.size() > kMaxReportDevices) {
    return make_error(Errc::limit_exceeded,
                      concat("more than ", kMaxReportDevices, " devices on one machine"));
  }
  std::vector<RouteDevice> out;
  for (const JsonValue value : list) {
    Result<RouteDevice> device = device_of(value);
    if (!device) return std::move(device).error().in(concat("device[", out.size(), "]"));
    out.push_back(*std::move(device));
  }
  std::sort(out.begin(), out.end(),
            [](const RouteDevice& a, const RouteDevice& b) { return natural_less(a.id, b.id); });
  const auto twice =
      std::adjacent_find(out.begin(), out.end(),
                         [](const RouteDevice& a, const RouteDevice& b) { return a.id == b.id; });
  if (twice != out.end()) return network_error("device " + twice->id + " is repeated");
  return out;
}

Result<std::optional<DeviceReport>> report_in(std::string_view text, std::string_view annotation) {
  if (text.empty()) return std::optional<DeviceReport>();
  Result<DeviceReport> report = parse_device_report(text);
  if (!report) return std::move(report).error().in(concat("annotation ", annotation));
  return std::optional(*std::move(report));
}

}  // namespace

bool is_address_list(std::string_view text) {
  const std::vector<std::string_view> addresses = split(text, ',');
  return std::all_of(addresses.begin(), addresses.end(),
                     [](std::string_view each) { return parse_scoped_ip(each).has_value(); });
}

void DeviceReport::add_switches(const DeviceReport& other) {
  for (RouteDevice& device : devices) {
    const auto same = std::find_if(other.devices.begin(), other.devices.end(),
                                   [&](const RouteDevice& one) { return one.id == device.id; });
    if (same == other.devices.end() || !device.tor_ip.empty()) continue;
    device.tor_ip = same->tor_ip;
    device.tor_port = same->tor_port;
  }
}

Result<DeviceReport> parse_device_report(std::string_view json) {
  const Result<JsonTree> tree =
      parse_json(json, {limits::kMaxAnnotationBytes, limits::kMaxJsonValues});
  if (!tree) return tree.error();
  const JsonValue value(*tree);
  if (!value.is_object()) return network_error("expected a JSON object");
  DeviceReport out;
  Result<std::string> pod = text_at(value, "pod_name");
  if (!pod) return std::move(pod).error();
  out.pod_name = *std::move(pod);
  Result<std::string> server = server_id_at(value);
  if (!server) return std::move(server).error();
  out.server_id = *std::move(server);
  const JsonValue list = list_at(value, value["devices"] ? "devices" : "device");
  if (list.empty()) {
    return network_error("expected a list \"devices\" (or \"device\") with at least one NPU");
  }
  Result<std::vector<RouteDevice>> devices = devices_of(list);
  if (!devices) return std::move(devices).error();
  out.devices = *std::move(devices);
  return out;
}

Result<std::optional<DeviceReport>> report_of_pod(std::string_view configuration,
                                                  std::string_view rank_table) {
  auto out = report_in(configuration, kAscend1980Configuration);
  if (!out) return out;
  auto older = report_in(rank_table, kAscendRankTable);
  if (!older || !*out) return older;
  if (*older) (*out)->add_switches(**older);
  return out;
}

std::string write_rank_table_annotation(const DeviceReport& report) {
  JsonWriter out;
  out.begin_object().field("pod_name", report.pod_name).field("server_id", report.server_id);
  out.key("device").begin_array();
  for (const RouteDevice& device : report.devices) {
    out.begin_object().field("device_id", device.id).field("device_ip", device.ip);
    out.field("rank_id", device.rank_id);
    out.field("tor_ip", device.tor_ip).field("tor_port", device.tor_port).end_object();
  }
  return out.end_array().end_object().take();
}

}  // namespace chipweave::codec
