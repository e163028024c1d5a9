#include "common/codec/mindcluster/node/switch_info.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/faults/fault_moments.hpp"
#include "common/codec/mindcluster/go_json.hpp"
#include "common/codec/mindcluster/node/cluster_entries.hpp"

namespace chipweave::codec::mindcluster {
namespace {

void append_event(JsonWriter& out, const SwitchEvent& event) {
  out.begin_object().key("EventType").integer(event.type);
  out.field("AssembledFaultCode", event.fault_code);
  out.key("PeerPortDevice").integer(event.peer_device);
  out.key("PeerPortId").integer(event.peer_port);
  out.key("SwitchChipId").integer(event.chip);
  out.key("SwitchPortId").integer(event.port);
  out.key("Severity").integer(event.severity);
  out.key("Assertion").integer(event.assertion);
  out.key("AlarmRaisedTime").integer(event.raised).end_object();
}

std::string event_text(const SwitchEvent& event) {
  JsonWriter out;
  append_event(out, event);
  return go_form(out.text());
}

// The offset of the number of UpdateTime.
std::size_t append_status(JsonWriter& out, const SwitchInfo& info) {
  out.field("FaultLevel", info.level).key("UpdateTime");
  const std::size_t time_at = out.text().size();
  out.integer(info.update_time).field("NodeStatus", info.node_status).key("FaultTimeAndLevelMap");
  append_moments(out, info.moments);
  return time_at;
}

SwitchEvent event_of(const JsonObject& object) {
  SwitchEvent out;
  out.type = object.integer_or("EventType", std::uint32_t{0});
  out.fault_code = object.text("AssembledFaultCode").value_or("");
  out.peer_device = object.integer_or("PeerPortDevice", std::uint32_t{0});
  out.peer_port = object.integer_or("PeerPortId", std::uint32_t{0});
  out.chip = object.integer_or("SwitchChipId", std::uint32_t{0});
  out.port = object.integer_or("SwitchPortId", std::uint32_t{0});
  out.severity = object.integer_or("Severity", std::uint32_t{0});
  out.assertion = object.integer_or("Assertion", std::uint32_t{0});
  out.raised = object.integer_or("AlarmRaisedTime", std::int64_t{0});
  return out;
}

// An event as JSON, inside a JSON string.
void add_event_text(SwitchInfo& info, JsonValue text, JsonProblems& problems) {
  if (!text.is_string()) return problems.add(text, expected("a string", text));
  const Result<JsonTree> event = parse_document(text.text());
  if (!event) return problems.add(text, event.error().text());
  JsonProblems inner;
  info.events.push_back(event_of(JsonObject::tolerant(JsonValue(*event), inner)));
  if (inner.any()) problems.add(text, inner.error().text());
}

}  // namespace

std::optional<std::string_view> node_status_of(std::string_view switch_level) {
  if (switch_level.empty() || switch_level == "NotHandleFault") return kNodeHealthy;
  if (switch_level == "SubHealthFault") return kNodeSubHealthy;
  if (switch_level == "SeparateFault" || switch_level == "RestartRequestFault") {
    return kNodeUnHealthy;
  }
  return std::nullopt;
}

std::size_t append_switch_info(JsonWriter& out, const SwitchInfo& info) {
  out.key("FaultInfo").begin_array();
  for (const SwitchEvent& event : info.events) append_event(out, event);
  out.end_array();
  return append_status(out, info);
}

std::string write_switch_info(const SwitchInfo& info) {
  JsonWriter out;
  out.begin_object().key("FaultCode").begin_array();
  for (const SwitchEvent& event : info.events) out.string(event_text(event));
  out.end_array();
  append_status(out, info);
  out.end_object();
  return go_form(out.text());
}

Result<SwitchInfo> switch_info_of(JsonValue value) {
  JsonProblems problems;
  const JsonObject object = JsonObject::tolerant(value, problems);
  SwitchInfo out;
  for (const JsonValue text : object.array("FaultCode", kMaxSwitchEvents)) {
    add_event_text(out, text, problems);
  }
  for (const JsonValue event : object.array("FaultInfo", kMaxSwitchEvents)) {
    out.events.push_back(event_of(JsonObject::tolerant(event, problems)));
  }
  out.level = object.text("FaultLevel").value_or("");
  out.update_time = object.integer_or("UpdateTime", std::int64_t{0});
  out.node_status = object.text("NodeStatus").value_or("");
  out.moments = moments_at(object, "FaultTimeAndLevelMap");
  if (problems.any()) return problems.error();
  return out;
}

Result<SwitchInfo> read_switch_info(std::string_view text) {
  const Result<JsonTree> document = parse_document(text);
  if (!document) return document.error();
  return switch_info_of(JsonValue(*document));
}

}  // namespace chipweave::codec::mindcluster
