#include "common/codec/mindcluster/faults/chip_faults.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/text/go_form.hpp"

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

std::string write_chip_faults(const std::vector<ChipFault>& faults) {
  JsonWriter out;
  out.begin_array();
  for (const ChipFault& fault : faults) append_fault(out, fault);
  out.end_array();
  return go_form(out.text());
}

}  // namespace chipweave::codec::mindcluster
