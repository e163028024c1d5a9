#include "common/codec/mindcluster/pod/pod_devices.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec::mindcluster {
namespace {

using domain::ranktable::MemberDevice;
using domain::ranktable::NetLayer;
using domain::ranktable::RankAddress;

constexpr JsonLimits kConfigurationLimits{limits::kMaxAnnotationBytes, 50'000};
constexpr std::size_t kMaxDevices = 64;
constexpr std::size_t kMaxLevels = 4;
constexpr std::size_t kMaxNetTypes = 8;
constexpr std::size_t kMaxAddresses = 24;
constexpr std::size_t kMaxPorts = 16;
constexpr std::array<std::string_view, 2> kConfigurations{
    "ascend.kubectl.kubernetes.io/ascend-910-configuration",
    "ascend.kubectl.kubernetes.io/ascend-npu-configuration"};
constexpr std::string_view kMounted = "huawei.com/AscendReal";

// Numbers are written with quotes, and by some versions without.
std::optional<std::int64_t> number_of(const JsonObject& object, std::string_view key,
                                      std::int64_t most) {
  const JsonValue value = object.find(key);
  if (!value) return std::nullopt;
  if (!value.is_string()) return object.integer(key, 0, most);
  const auto number = parse_number<std::int64_t>(value.text());
  if (number && *number >= 0 && *number <= most) return number;
  object.problem(key, "must be a number from 0 to " + std::to_string(most));
  return std::nullopt;
}

// "-2" and "-1": unknown, or none.
std::string super_pod_of(const JsonObject& object) {
  const auto id = object.integer("super_pod_id", std::int64_t{-2}, std::int64_t{INT32_MAX});
  return id && *id >= 0 ? std::to_string(*id) : std::string();
}

NetLayer layer_of(const JsonObject& object) {
  NetLayer out;
  if (const auto layer = object.require_integer("net_layer", std::int64_t{0}, std::int64_t{7}))
    out.layer = *layer;
  out.instance_id = object.require_text("net_instance_id");
  out.type = object.require_text("net_type");
  out.attributes = object.text_or_empty("net_attr");
  for (const JsonValue value : object.array("rank_addr_list", kMaxAddresses)) {
    const JsonObject of = JsonObject::tolerant(value, object.problems());
    RankAddress& address = out.addresses.emplace_back();
    address.type = of.require_text("addr_type");
    address.address = of.require_text("addr");
    address.ports = of.texts("ports", kMaxPorts);
    address.plane_id = of.text("plane_id");
  }
  return out;
}

// {"level":2,"info":{"UBOE":LAYER,"UBG":LAYER}}. Levels 0 and 1 have one network; a job uses one of
// those of the others.
void read_level(const JsonObject& object, MemberDevice& to) {
  const auto level =
      object.require_integer("level", std::int64_t{0}, std::int64_t{kMaxLevels - 1}).value_or(0);
  bool first = true;
  for (const JsonValue one : object.map("info", kMaxNetTypes)) {
    NetLayer layer = layer_of(JsonObject::tolerant(one, object.problems()));
    if (level > 1) {
      to.outer.push_back({std::string(one.name()), std::move(layer)});
    } else if (std::exchange(first, false)) {
      to.layers.push_back(std::move(layer));
    }
  }
}

MemberDevice device_of(const JsonObject& object) {
  MemberDevice out;
  object.require("device_id");
  out.device_id = number_of(object, "device_id", limits::kMaxChipIndex).value_or(0);
  out.ip = object.text_or_empty("device_ip");
  if (out.ip == "-1") out.ip.clear();
  if (const auto id = number_of(object, "super_device_id", std::int64_t{UINT32_MAX}))
    out.super_device_id = *id;
  for (const JsonValue level : object.array("levelList", kMaxLevels))
    read_level(JsonObject::tolerant(level, object.problems()), out);
  return out;
}

// "Ascend910-4" and "npu-4": 4. nullopt: it has none.
std::optional<std::int64_t> id_in(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  return dash == std::string_view::npos ? std::nullopt
                                        : parse_number<std::int64_t>(name.substr(dash + 1));
}

bool are_mounted(const std::vector<MemberDevice>& devices, std::string_view mounted) {
  std::set<std::int64_t> there;
  for (const std::string_view name : split(mounted, ',')) {
    const auto id = id_in(name);
    if (!id) return false;
    there.insert(*id);
  }
  return there.size() == devices.size() &&
         std::all_of(devices.begin(), devices.end(),
                     [&](const MemberDevice& one) { return there.contains(one.device_id); });
}

}  // namespace

Result<PodDevices> read_pod_devices(std::string_view json) {
  const auto tree = parse_json(json, kConfigurationLimits);
  if (!tree) return tree.error();
  JsonProblems problems;
  const JsonObject root = JsonObject::tolerant(JsonValue(*tree), problems);
  PodDevices out;
  out.super_pod = super_pod_of(root);
  root.require("devices");
  for (const JsonValue value : root.array("devices", kMaxDevices))
    out.devices.push_back(device_of(JsonObject::tolerant(value, problems)));
  if (problems.any()) return problems.error();
  std::sort(out.devices.begin(), out.devices.end(),
            [](const auto& a, const auto& b) { return a.device_id < b.device_id; });
  const auto twice =
      std::adjacent_find(out.devices.begin(), out.devices.end(),
                         [](const auto& a, const auto& b) { return a.device_id == b.device_id; });
  if (twice != out.devices.end())
    return make_error(Errc::invalid_argument,
                      "device " + std::to_string(twice->device_id) + " is listed twice");
  return out;
}

Result<std::optional<PodDevices>> devices_of_pod(const StringMap& annotations) {
  for (const std::string_view name : kConfigurations) {
    const auto text = annotations.find(name);
    if (text == annotations.end() || text->second.empty()) continue;
    auto devices = read_pod_devices(text->second);
    if (!devices) return Error(devices.error()).in(std::string(name));
    const auto mounted = annotations.find(kMounted);
    if (mounted != annotations.end() && !mounted->second.empty() &&
        !are_mounted(devices->devices, mounted->second))
      return make_error(Errc::conflict, std::string(kMounted) + " is " +
                                            in_quotes(mounted->second) +
                                            ", which are not the devices of " + std::string(name));
    return std::optional(*std::move(devices));
  }
  return std::optional<PodDevices>();
}

}  // namespace chipweave::codec::mindcluster
