#include "common/codec/mindcluster/node/node_info.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/text/go_form.hpp"

namespace chipweave::codec::mindcluster {
void append_node_info(JsonWriter& out, const NodeInfo& info) {
  out.key("FaultDevList").begin_array();
  for (const NodeFault& fault : info.faults) {
    out.begin_object().field("DeviceType", fault.device_type);
    out.key("DeviceId").integer(fault.device_id).key("FaultCode");
    out.strings(fault.codes).field("FaultLevel", fault.level).end_object();
  }
  out.end_array().field("NodeStatus", info.status);
}

std::string write_node_info(const NodeInfo& info, const Digest& sha256) {
  JsonWriter covered;
  covered.begin_object();
  append_node_info(covered, info);
  covered.end_object();
  const std::string form = go_form(covered.text());
  JsonWriter out;
  out.begin_object().key("NodeInfo").raw(form);
  out.field("CheckCode", check_code(form, sha256)).end_object();
  return out.take();
}

}  // namespace chipweave::codec::mindcluster
