#include "common/codec/mindcluster/node/node_info.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/node/cluster_entries.hpp"

namespace chipweave::codec::mindcluster {
namespace {

// A list without entries is "[]" or "null" in Go.
void append_texts(JsonWriter& out, const std::vector<std::string>& texts, std::string_view empty) {
  if (texts.empty()) {
    out.raw(empty);
    return;
  }
  out.begin_array();
  for (const std::string& text : texts) out.string(text);
  out.end_array();
}

void append_faults(JsonWriter& out, const std::vector<NodeFault>& faults, std::string_view empty) {
  if (faults.empty()) {
    out.raw(empty);
    return;
  }
  out.begin_array();
  for (const NodeFault& fault : faults) {
    out.begin_object().field("DeviceType", fault.device_type);
    out.key("DeviceId").integer(fault.device_id).key("FaultCode");
    append_texts(out, fault.codes, empty);
    out.field("FaultLevel", fault.level).end_object();
  }
  out.end_array();
}

void append_members(JsonWriter& out, const NodeInfo& info, std::string_view empty) {
  out.key("FaultDevList");
  append_faults(out, info.faults, empty);
  out.field("NodeStatus", info.status);
}

std::string form_of(const NodeInfo& info, std::string_view empty) {
  JsonWriter out;
  out.begin_object();
  append_members(out, info, empty);
  out.end_object();
  return go_form(out.text());
}

NodeFault node_fault_of(const JsonObject& object) {
  NodeFault out;
  out.device_type = object.text("DeviceType").value_or("");
  out.device_id = object.integer_or("DeviceId", std::int64_t{0});
  out.codes = object.texts("FaultCode", kMaxNodeFaultCodes);
  out.level = object.text("FaultLevel").value_or("");
  return out;
}

}  // namespace

Result<NodeInfo> node_info_of(JsonValue value) {
  JsonProblems problems;
  const JsonObject object = JsonObject::tolerant(value, problems);
  NodeInfo out;
  for (const JsonValue fault : object.array("FaultDevList", kMaxNodeFaults)) {
    out.faults.push_back(node_fault_of(JsonObject::tolerant(fault, problems)));
  }
  out.status = object.text("NodeStatus").value_or("");
  if (problems.any()) return problems.error();
  return out;
}

void append_node_info(JsonWriter& out, const NodeInfo& info) { append_members(out, info, "[]"); }

std::string write_node_info(const NodeInfo& info, const Digest& sha256) {
  const std::string form = form_of(info, "[]");
  JsonWriter out;
  out.begin_object().key("NodeInfo").raw(form);
  out.field("CheckCode", check_code(form, sha256)).end_object();
  return out.take();
}

Result<NodeInfo> read_node_info(std::string_view text, const Digest& sha256) {
  const Result<JsonTree> document = parse_document(text);
  if (!document) return document.error();
  JsonProblems problems;
  const JsonObject object = JsonObject::tolerant(JsonValue(*document), problems);
  const std::string code = object.text("CheckCode").value_or("");
  const JsonValue covered = object.find("NodeInfo");
  if (problems.any()) return problems.error();
  if (!covered) return make_error(Errc::invalid_argument, "has no NodeInfo");
  Result<NodeInfo> out = node_info_of(covered);
  if (!out) return out;
  for (const std::string_view empty : {"[]", "null"}) {
    if (code == check_code(form_of(*out, empty), sha256)) return out;
  }
  return wrong_check_code("NodeInfo", code);
}

}  // namespace chipweave::codec::mindcluster
