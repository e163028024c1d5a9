#include "common/codec/mindcluster/faults/chip_faults.hpp"

#include "common/codec/mindcluster/faults/fault_moments.hpp"
#include "common/codec/mindcluster/go_json.hpp"

namespace chipweave::codec::mindcluster {
namespace {

void append_fault(JsonWriter& out, const ChipFault& fault) {
  out.begin_object()
      .field("fault_type", fault.type)
      .field("npu_name", fault.npu)
      .field("large_model_fault_level", fault.large_model_level)
      .field("fault_level", fault.level)
      .field("fault_handling", fault.handling)
      .field("fault_code", fault.code)
      .key("fault_time_and_level_map");
  append_moments(out, fault.moments);
  out.end_object();
}

ChipFault fault_of(const JsonObject& object) {
  ChipFault out;
  out.type = object.text("fault_type").value_or("");
  out.npu = object.text("npu_name").value_or("");
  out.large_model_level = object.text("large_model_fault_level").value_or("");
  out.level = object.text("fault_level").value_or("");
  out.handling = object.text("fault_handling").value_or("");
  out.code = object.text("fault_code").value_or("");
  out.moments = moments_at(object, "fault_time_and_level_map");
  return out;
}

}  // namespace

void append_moments(JsonWriter& out, const FaultMoments& moments) {
  out.begin_object();
  for (const auto& [code, moment] : moments) {
    out.key(code)
        .begin_object()
        .key("fault_time")
        .integer(moment.time)
        .field("fault_level", moment.level)
        .end_object();
  }
  out.end_object();
}

FaultMoments moments_at(const JsonObject& object, std::string_view key) {
  FaultMoments out;
  for (const JsonValue value : object.map(key, kMaxFaultCodes)) {
    const JsonObject moment = JsonObject::tolerant(value, object.problems());
    out[std::string(value.name())] = {moment.integer_or("fault_time", std::int64_t{0}),
                                      moment.text("fault_level").value_or("")};
  }
  return out;
}

std::string write_chip_faults(const std::vector<ChipFault>& faults) {
  JsonWriter out;
  out.begin_array();
  for (const ChipFault& fault : faults) append_fault(out, fault);
  out.end_array();
  return go_form(out.text());
}

Result<std::vector<ChipFault>> read_chip_faults(std::string_view text) {
  std::vector<ChipFault> out;
  if (text.empty()) return out;
  const Result<JsonTree> document = parse_document(text);
  if (!document) return document.error();
  const JsonValue list(*document);
  if (list.is_null()) return out;
  if (!list.is_array() || list.size() > kMaxFaults) {
    return make_error(Errc::invalid_argument,
                      "must be a list of at most " + std::to_string(kMaxFaults) + " faults");
  }
  JsonProblems problems;
  for (const JsonValue value : list) {
    out.push_back(fault_of(JsonObject::tolerant(value, problems)));
  }
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace chipweave::codec::mindcluster
