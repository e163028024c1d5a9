#include "common/codec/kube/dra/resource_slice.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {
namespace {

constexpr JsonLimits kSliceLimits{limits::kMaxKubeObjectBytes, limits::kMaxJsonValues};
constexpr std::size_t kMaxSlices = 1024;  // of all drivers of a node
constexpr std::size_t kMaxMembers = 64;   // attributes, capacities or taints of a device

void write_attribute(JsonWriter& w, const DeviceAttribute& value) {
  w.begin_object();
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    w.field("int", *number);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    w.key("bool").boolean(*flag);
  } else {
    w.field("string", std::get<std::string>(value));
  }
  w.end_object();
}

void write_device(JsonWriter& w, const DriverDevice& device) {
  w.begin_object().field("name", device.name).key("attributes").begin_object();
  for (const auto& [name, value] : device.attributes) write_attribute(w.key(name), value);
  w.end_object();
  if (!device.capacity.empty()) {
    w.key("capacity").begin_object();
    for (const auto& [name, value] : device.capacity)
      w.key(name).begin_object().field("value", value).end_object();
    w.end_object();
  }
  if (!device.taints.empty()) {
    w.key("taints").begin_array();
    for (const DeviceTaint& taint : device.taints) {
      w.begin_object().field("key", taint.key).field("value", taint.value);
      w.field("effect", taint.effect);
      if (!taint.time_added.empty()) w.field("timeAdded", taint.time_added);
      w.end_object();
    }
    w.end_array();
  }
  w.end_object();
}

// Whether an object has other members than these.
bool has_others(const JsonValue& object, std::initializer_list<std::string_view> known) {
  for (const JsonValue member : object) {
    if (std::find(known.begin(), known.end(), member.name()) == known.end()) return true;
  }
  return false;
}

// nullopt: of a type that this driver does not write.
std::optional<DeviceAttribute> read_driver_attribute(const JsonValue& value) {
  if (value.size() != 1) return std::nullopt;
  if (const auto number = value["int"].integer()) return DeviceAttribute(*number);
  if (const auto flag = value["bool"].boolean()) return DeviceAttribute(*flag);
  if (const auto text = value["string"].string()) return DeviceAttribute(*text);
  return std::nullopt;
}

DriverDevice read_driver_device(const JsonValue& value, JsonProblems& problems, bool& others) {
  DriverDevice out;
  const JsonObject device = JsonObject::tolerant(value, problems);
  if (!device) return out;
  others = others || has_others(value, {"name", "attributes", "capacity", "taints"});
  out.name = device.require_text("name").value_or("");
  for (const JsonValue member : device.map("attributes", kMaxMembers)) {
    auto attribute = read_driver_attribute(member);
    others = others || !attribute;
    if (attribute) out.attributes.emplace(member.name(), std::move(*attribute));
  }
  for (const JsonValue member : device.map("capacity", kMaxMembers)) {
    others = others || has_others(member, {"value"});
    out.capacity.emplace(member.name(), member["value"].text());
  }
  for (const JsonValue each : device.array("taints", kMaxMembers)) {
    const JsonObject taint = JsonObject::tolerant(each, problems);
    if (!taint) continue;
    out.taints.push_back({taint.text_or_empty("key"), taint.text_or_empty("value"),
                          taint.text_or_empty("effect"), taint.text_or_empty("timeAdded")});
  }
  return out;
}

ResourceSlice read_slice(const JsonValue& value, JsonProblems& problems) {
  ResourceSlice out;
  const JsonObject slice = JsonObject::tolerant(value, problems);
  if (!slice) return out;
  const JsonObject metadata = JsonObject::tolerant(slice.require("metadata"), problems);
  const JsonObject spec = JsonObject::tolerant(slice.require("spec"), problems);
  if (!metadata || !spec) return out;
  out.name = metadata.require_text("name").value_or("");
  out.version = {metadata.text_or_empty("uid"), metadata.text_or_empty("resourceVersion")};
  for (const JsonValue owner : metadata.array("ownerReferences", kMaxMembers)) {
    if (owner["kind"].text() == "Node") out.owner_uid = owner["uid"].text();
  }
  out.driver = spec.require_text("driver").value_or("");
  out.node = spec.text_or_empty("nodeName");
  out.other_content = has_others(spec.value(), {"driver", "nodeName", "pool", "devices"});
  const JsonObject pool = JsonObject::tolerant(spec.require("pool"), problems);
  if (pool) {
    out.pool = pool.text_or_empty("name");
    out.generation = pool.integer_or<std::int64_t>("generation", 0);
    out.slice_count = pool.integer_or<std::int64_t>("resourceSliceCount", 0);
  }
  for (const JsonValue device : spec.array("devices", kMaxSliceDevices))
    out.devices.push_back(read_driver_device(device, problems, out.other_content));
  return out;
}

}  // namespace

std::string bytes_quantity(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"", "Ki", "Mi", "Gi", "Ti"};
  if (bytes == 0) return "";
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  // Without a unit it is decimal, where the API server would write 1000 as 1k.
  return std::to_string(bytes) + (unit == 0 ? "" : kUnits.at(unit));
}

std::string write_resource_slice(const ResourceSlice& slice) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "resource.k8s.io/v1").field("kind", "ResourceSlice");
  w.key("metadata").begin_object().field("name", slice.name);
  if (!slice.version.uid.empty()) w.field("uid", slice.version.uid);
  if (!slice.version.resource_version.empty())
    w.field("resourceVersion", slice.version.resource_version);
  w.key("ownerReferences").begin_array().begin_object();
  w.field("apiVersion", "v1").field("kind", "Node").field("name", slice.node);
  w.field("uid", slice.owner_uid).key("controller").boolean(true);
  w.end_object().end_array().end_object();
  w.key("spec").begin_object().field("driver", slice.driver).field("nodeName", slice.node);
  w.key("pool").begin_object().field("name", slice.pool).field("generation", slice.generation);
  w.field("resourceSliceCount", slice.slice_count).end_object();
  w.key("devices").begin_array();
  for (const DriverDevice& device : slice.devices) write_device(w, device);
  w.end_array().end_object().end_object();
  return w.take();
}

Result<std::vector<ResourceSlice>> read_resource_slices(std::string_view body) {
  auto document = parse_json(body, kSliceLimits);
  if (!document) return std::move(document).error();
  JsonProblems problems{JsonValue(*document)};
  const JsonObject list = JsonObject::tolerant(JsonValue(*document), problems);
  if (!list) return problems.error();
  std::vector<ResourceSlice> out;
  list.require("items");
  for (const JsonValue each : list.array("items", kMaxSlices))
    out.push_back(read_slice(each, problems));
  if (problems.any()) return problems.error();
  return out;
}

Result<ResourceSlice> read_resource_slice(std::string_view body) {
  auto document = parse_json(body, kSliceLimits);
  if (!document) return std::move(document).error();
  JsonProblems problems{JsonValue(*document)};
  ResourceSlice out = read_slice(JsonValue(*document), problems);
  if (problems.any()) return problems.error();
  return out;
}

Result<NodeFacts> read_node_facts(std::string_view body) {
  auto document = parse_json(body, kSliceLimits);
  if (!document) return std::move(document).error();
  const JsonValue node(*document);
  NodeFacts out;
  out.uid = node["metadata"]["uid"].string().value_or("");
  if (out.uid.empty()) return make_error(Errc::invalid_argument, "the Node has no metadata.uid");
  for (const JsonValue resource : node["status"]["allocatable"]) {
    const auto count = parse_number<std::int64_t>(resource.text());
    if (count && resource.name().find('/') != std::string_view::npos)
      out.allocatable.emplace(resource.name(), *count);
  }
  return out;
}

}  // namespace chipweave::codec
