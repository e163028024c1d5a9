#include "common/codec/mindcluster/node/switch_info.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/faults/fault_moments.hpp"
#include "common/codec/mindcluster/go_json.hpp"
#include "common/codec/mindcluster/node/switch_members.hpp"

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

// Where the number of UpdateTime begins.
std::size_t append_status(JsonWriter& out, const SwitchInfo& info) {
  out.field("FaultLevel", info.level).key("UpdateTime");
  const std::size_t time_at = out.text().size();
  out.integer(info.update_time).field("NodeStatus", info.node_status).key("FaultTimeAndLevelMap");
  append_moments(out, info.moments);
  return time_at;
}

SwitchEvent event_of(const Members& members) {
  SwitchEvent out;
  out.type = members.integer("EventType", std::uint32_t{0});
  out.fault_code = members.text("AssembledFaultCode");
  out.peer_device = members.integer("PeerPortDevice", std::uint32_t{0});
  out.peer_port = members.integer("PeerPortId", std::uint32_t{0});
  out.chip = members.integer("SwitchChipId", std::uint32_t{0});
  out.port = members.integer("SwitchPortId", std::uint32_t{0});
  out.severity = members.integer("Severity", std::uint32_t{0});
  out.assertion = members.integer("Assertion", std::uint32_t{0});
  out.raised = members.integer("AlarmRaisedTime", std::int64_t{0});
  return out;
}

void add_event_text(SwitchInfo& info, const std::string& text, const std::string& path,
                    JsonProblems& problems) {
  const Result<Json> event = parse_text(text);
  if (!event) {
    problems.add(path, event.error().text());
    return;
  }
  info.events.push_back(event_of(Members(*event, path, problems)));
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

Result<SwitchInfo> switch_info_of(const Json& value, const std::string& path) {
  JsonProblems problems;
  const Members members(value, path, problems);
  SwitchInfo out;
  for (const std::string& text : members.texts("FaultCode", kMostSwitchEvents)) {
    add_event_text(out, text, members.path("FaultCode"), problems);
  }
  for (const Json& event : members.list("FaultInfo", kMostSwitchEvents)) {
    out.events.push_back(event_of(Members(event, members.path("FaultInfo"), problems)));
  }
  out.level = members.text("FaultLevel");
  out.update_time = members.integer("UpdateTime", std::int64_t{0});
  out.node_status = members.text("NodeStatus");
  out.moments = moments_at(members, "FaultTimeAndLevelMap");
  if (problems.any()) return problems.error();
  return out;
}

Result<SwitchInfo> read_switch_info(std::string_view text) {
  const Result<Json> value = parse_text(text);
  if (!value) return value.error();
  return switch_info_of(*value, "");
}

}  // namespace chipweave::codec::mindcluster
