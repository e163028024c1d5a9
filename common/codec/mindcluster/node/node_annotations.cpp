#include "common/codec/mindcluster/node/node_annotations.hpp"

#include "common/base/ip_address.hpp"
#include "common/base/json_writer.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/mindcluster/go_json.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/text/numbers.hpp"

namespace chipweave::codec::mindcluster {
namespace {

BaseDevice base_device_of(const JsonObject& object) {
  BaseDevice out;
  out.ip = object.text("IP").value_or("");
  if (!parse_ip(out.ip)) out.ip.clear();
  if (object.has("SuperDeviceID")) {
    out.super_device_id = object.integer_or("SuperDeviceID", std::uint32_t{0});
  }
  return out;
}

void append_reset_devices(JsonWriter& out, const std::vector<ResetDevice>& devices) {
  out.begin_array();
  for (const ResetDevice& device : devices) {
    out.begin_object().key("CardId").integer(device.card_id);
    out.key("DeviceId").integer(device.device_id);
    out.key("AssociatedCardId").integer(device.associated_card_id);
    out.key("PhyID").integer(device.phy_id);
    out.key("LogicID").integer(device.logic_id).end_object();
  }
  out.end_array();
}

std::vector<ResetDevice> reset_devices_at(const JsonObject& object, std::string_view key) {
  std::vector<ResetDevice> out;
  for (const JsonValue value : object.array(key, kMaxResetDevices)) {
    const JsonObject device = JsonObject::tolerant(value, object.problems());
    out.push_back({device.integer_or("CardId", 0), device.integer_or("DeviceId", 0),
                   device.integer_or("AssociatedCardId", 0), device.integer_or("PhyID", 0),
                   device.integer_or("LogicID", 0)});
  }
  return out;
}

}  // namespace

std::string write_base_devices(std::string_view prefix, const BaseDevices& devices) {
  std::map<std::string, const BaseDevice*> by_name;
  for (const auto& [chip, device] : devices) by_name[chip_name(prefix, chip)] = &device;
  JsonWriter out;
  out.begin_object();
  for (const auto& [name, device] : by_name) {
    out.key(name).begin_object().field("IP", device->ip);
    if (device->super_device_id) out.key("SuperDeviceID").integer(*device->super_device_id);
    out.end_object();
  }
  out.end_object();
  return go_form(out.text());
}

Result<BaseDevices> read_base_devices(std::string_view prefix, std::string_view text) {
  BaseDevices out;
  if (text.empty()) return out;
  const Result<JsonTree> document = parse_document(text);
  if (!document) return document.error();
  const JsonValue map(*document);
  if (!map.is_object() || map.size() > kMaxListedChips) {
    return make_error(Errc::invalid_argument, "must be a JSON object of at most " +
                                                  std::to_string(kMaxListedChips) + " chips");
  }
  JsonProblems problems;
  for (const JsonValue device : map) {
    const auto chip = chip_of_name(prefix, device.name());
    if (chip) {
      out[*chip] = base_device_of(JsonObject::tolerant(device, problems));
    } else {
      problems.add(device, "expected the name of a chip such as " + chip_name(prefix, 0));
    }
  }
  if (problems.any()) return problems.error();
  return out;
}

std::optional<std::int32_t> annotation_number(std::string_view text) {
  return exact_number<std::int32_t>(text);
}

std::string write_reset_info(const ResetInfo& info) {
  JsonWriter out;
  out.begin_object().key("ThirdPartyResetDevs");
  append_reset_devices(out, info.third_party);
  out.key("ManualResetDevs");
  append_reset_devices(out, info.manual);
  out.end_object();
  return out.take();
}

Result<ResetInfo> read_reset_info(std::string_view text) {
  ResetInfo out;
  if (text.empty()) return out;
  const Result<JsonTree> document = parse_document(text);
  if (!document) return document.error();
  JsonProblems problems;
  const JsonObject members = JsonObject::tolerant(JsonValue(*document), problems);
  out.third_party = reset_devices_at(members, "ThirdPartyResetDevs");
  out.manual = reset_devices_at(members, "ManualResetDevs");
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace chipweave::codec::mindcluster
