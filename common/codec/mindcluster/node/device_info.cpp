#include "common/codec/mindcluster/node/device_info.hpp"

#include <array>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/mindcluster/node/cluster_entries.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::mindcluster {
namespace {

using DeviceList = std::map<std::string, std::string>;

constexpr std::array<std::string_view, 4> kPrefixes = {"Ascend910", "Ascend310P", "Ascend310",
                                                       "npu"};
constexpr std::string_view kNetworkUnhealthy = "-NetworkUnhealthy";
constexpr std::string_view kUnhealthy = "-Unhealthy";
constexpr std::string_view kRecovering = "-Recovering";
constexpr std::string_view kFault = "-Fault";
constexpr std::array<std::string_view, 5> kSuffixes = {"", kNetworkUnhealthy, kUnhealthy,
                                                       kRecovering, kFault};

std::string key_of(std::string_view prefix, std::string_view suffix) {
  return "huawei.com/" + std::string(prefix) + std::string(suffix);
}

void append_list(JsonWriter& out, const DeviceList& list, std::int64_t update_time) {
  out.key("DeviceList").begin_object();
  for (const auto& [key, value] : list) out.field(key, value);
  out.end_object().key("UpdateTime").integer(update_time);
}

std::string form_of(const DeviceList& list, std::int64_t update_time) {
  JsonWriter out;
  out.begin_object();
  append_list(out, list, update_time);
  out.end_object();
  return go_form(out.text());
}

DeviceList list_of(const DeviceInfo& info) {
  DeviceList out;
  const auto chips = [&](std::string_view suffix, const std::vector<int>& list) {
    out[key_of(info.prefix, suffix)] = write_chip_list(info.prefix, list);
  };
  if (info.available) chips("", *info.available);
  if (info.network_unhealthy) chips(kNetworkUnhealthy, *info.network_unhealthy);
  chips(kUnhealthy, info.unhealthy);
  chips(kRecovering, info.recovering);
  out[key_of(info.prefix, kFault)] = write_chip_faults(info.faults);
  out.insert(info.others.begin(), info.others.end());
  return out;
}

Result<DeviceList> texts_of(const JsonObject& object) {
  DeviceList out;
  for (const JsonValue value : object.map("DeviceList", kMaxOtherKeys + kSuffixes.size())) {
    if (value.is_string()) {
      out[std::string(value.name())] = value.text();
    } else {
      object.problems().add(value, expected("a string", value));
    }
  }
  if (object.problems().any()) return object.problems().error();
  return out;
}

bool has_chips_of(const DeviceList& list, std::string_view prefix) {
  for (const std::string_view suffix : kSuffixes) {
    if (list.contains(key_of(prefix, suffix))) return true;
  }
  return false;
}

Result<std::string> prefix_of(const DeviceList& list) {
  std::string out;
  for (const std::string_view prefix : kPrefixes) {
    if (!has_chips_of(list, prefix)) continue;
    if (!out.empty()) {
      return make_error(Errc::unsupported, "lists chips of two kinds, " + out + " and " +
                                               std::string(prefix) + "; a node may have one");
    }
    out = prefix;
  }
  if (!out.empty()) return out;
  return make_error(Errc::invalid_argument,
                    "has no key of chips such as " + quoted_excerpt(key_of(kPrefixes[0], "")));
}

// Removes and returns the entry of the list; nullopt if there is none.
std::optional<std::string> take(DeviceList& list, const std::string& key) {
  auto node = list.extract(key);
  return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
}

Result<std::optional<std::vector<int>>> take_chips(DeviceList& list, std::string_view prefix,
                                                   std::string_view suffix) {
  const std::string key = key_of(prefix, suffix);
  const auto text = take(list, key);
  if (!text) return std::optional<std::vector<int>>();
  Result<std::vector<int>> chips = read_chip_list(prefix, *text);
  if (!chips) return std::move(chips).error().in(key);
  return std::optional(*std::move(chips));
}

Result<DeviceInfo> info_of(DeviceList list) {
  const Result<std::string> prefix = prefix_of(list);
  if (!prefix) return prefix.error();
  DeviceInfo out;
  out.prefix = *prefix;
  auto available = take_chips(list, out.prefix, "");
  if (!available) return std::move(available).error();
  auto network = take_chips(list, out.prefix, kNetworkUnhealthy);
  if (!network) return std::move(network).error();
  auto unhealthy = take_chips(list, out.prefix, kUnhealthy);
  if (!unhealthy) return std::move(unhealthy).error();
  auto recovering = take_chips(list, out.prefix, kRecovering);
  if (!recovering) return std::move(recovering).error();
  const std::string key = key_of(out.prefix, kFault);
  auto faults = read_chip_faults(take(list, key).value_or(""));
  if (!faults) return std::move(faults).error().in(key);
  out.available = *std::move(available);
  out.network_unhealthy = *std::move(network);
  out.unhealthy = (*std::move(unhealthy)).value_or(std::vector<int>());
  out.recovering = (*std::move(recovering)).value_or(std::vector<int>());
  out.faults = *std::move(faults);
  if (list.size() > kMaxOtherKeys) {
    return make_error(Errc::limit_exceeded, "has more than " + std::to_string(kMaxOtherKeys) +
                                                " keys that are not of its chips");
  }
  out.others = std::move(list);
  return out;
}

// The encoding that Go would produce after decoding the text.
Result<std::string> covered_form(JsonValue value) {
  JsonProblems problems;
  const JsonObject object = JsonObject::tolerant(value, problems);
  const auto update_time = object.integer_or("UpdateTime", std::int64_t{0});
  const Result<DeviceList> list = texts_of(object);
  if (!list) return list.error();
  return form_of(*list, update_time);
}

}  // namespace

Result<DeviceInfo> device_list_of(JsonValue value) {
  JsonProblems problems;
  const JsonObject object = JsonObject::tolerant(value, problems);
  const auto update_time = object.integer_or("UpdateTime", std::int64_t{0});
  Result<DeviceList> list = texts_of(object);
  if (!list) return std::move(list).error();
  Result<DeviceInfo> out = info_of(*std::move(list));
  if (!out) {
    const JsonValue at = object.find("DeviceList") ? object.find("DeviceList") : value;
    return std::move(out).error().in(at.path({}));
  }
  out->update_time = update_time;
  return out;
}

Result<void> add_place(DeviceInfo& info, JsonValue value) {
  JsonProblems problems;
  const JsonObject object = JsonObject::tolerant(value, problems);
  info.super_pod_id = object.integer_or("SuperPodID", kIdUnsupported);
  info.server_index = object.integer_or("ServerIndex", kIdUnsupported);
  if (object.has("RackID")) info.rack_id = object.integer_or("RackID", kIdUnsupported);
  if (problems.any()) return problems.error();
  return {};
}

void append_device_list(JsonWriter& out, const DeviceInfo& info) {
  append_list(out, list_of(info), info.update_time);
}

std::string write_device_info(const DeviceInfo& info, const Digest& sha256) {
  const std::string form = form_of(list_of(info), info.update_time);
  JsonWriter out;
  out.begin_object().key("DeviceInfo").raw(form);
  out.key("SuperPodID").integer(info.super_pod_id);
  out.key("ServerIndex").integer(info.server_index);
  out.field("CheckCode", check_code(form, sha256));
  if (info.rack_id) out.key("RackID").integer(*info.rack_id);
  out.end_object();
  return out.take();
}

Result<DeviceInfo> read_device_info(std::string_view text, const Digest& sha256) {
  const Result<JsonTree> document = parse_document(text);
  if (!document) return document.error();
  JsonProblems problems;
  const JsonObject object = JsonObject::tolerant(JsonValue(*document), problems);
  const std::string code = object.text("CheckCode").value_or("");
  const JsonValue covered = object.find("DeviceInfo");
  if (problems.any()) return problems.error();
  if (!covered) return make_error(Errc::invalid_argument, "has no DeviceInfo");
  const Result<std::string> form = covered_form(covered);
  if (!form) return form.error();
  if (code != check_code(*form, sha256)) return wrong_check_code("DeviceInfo", code);
  Result<DeviceInfo> out = device_list_of(covered);
  if (!out) return out;
  const Result<void> placed = add_place(*out, object.value());
  if (!placed) return placed.error();
  return out;
}

}  // namespace chipweave::codec::mindcluster
