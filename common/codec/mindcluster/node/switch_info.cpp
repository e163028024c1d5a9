#include "common/codec/mindcluster/node/switch_info.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/text/go_form.hpp"

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

}  // namespace chipweave::codec::mindcluster
