#include "common/codec/mindcluster/faults/chip_faults.hpp"

#include "common/codec/mindcluster/faults/fault_moments.hpp"
#include "common/codec/mindcluster/go_json.hpp"
#include "common/codec/text/quoting.hpp"

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

ChipFault fault_of(const Members& members) {
  ChipFault out;
  out.type = members.text("fault_type");
  out.npu = members.text("npu_name");
  out.large_model_level = members.text("large_model_fault_level");
  out.level = members.text("fault_level");
  out.handling = members.text("fault_handling");
  out.code = members.text("fault_code");
  out.moments = moments_at(members, "fault_time_and_level_map");
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

FaultMoments moments_at(const Members& members, const char* key) {
  FaultMoments out;
  for (const auto& [code, value] : members.map(key, kMostFaultCodes).items()) {
    const Members moment(value, members.path(key) + "." + quoted_excerpt(code), members.problems());
    out[code] = {moment.integer<std::int64_t>("fault_time", 0), moment.text("fault_level")};
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
  const Result<Json> list = parse_text(text);
  if (!list) return list.error();
  if (list->is_null()) return out;
  if (!list->is_array() || list->size() > kMostFaults) {
    return make_error(Errc::invalid_argument,
                      "is no list of at most " + std::to_string(kMostFaults) + " faults");
  }
  JsonProblems problems;
  for (const Json& value : *list) {
    out.push_back(fault_of(Members(value, "[" + std::to_string(out.size()) + "]", problems)));
  }
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace chipweave::codec::mindcluster
