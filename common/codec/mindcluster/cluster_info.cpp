#include "common/codec/mindcluster/cluster_info.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/text/go_form.hpp"

namespace chipweave::codec::mindcluster {
namespace {

// The members of the object that a writer has begun. time_at: offset of the placeholder of the
// time; 0: there is none.
ClusterEntry parted(const std::string& text, std::size_t time_at) {
  const std::string_view whole = std::string_view(text).substr(1);
  if (time_at == 0) return {go_form(whole), "", false};
  return {go_form(whole.substr(0, time_at - 1)), go_form(whole.substr(time_at)), true};
}

}  // namespace

ClusterEntry cluster_entry(const std::string& node, DeviceInfo info) {
  info.update_time = 0;
  const std::string name = std::string(kDeviceInfoPrefix) + node;
  JsonWriter out;
  out.begin_object().key(name).begin_object();
  append_device_list(out, info);
  const std::size_t time_at = out.text().size() - 1;
  out.field("CmName", name).key("SuperPodID").integer(info.super_pod_id);
  if (info.rack_id) out.key("RackID").integer(*info.rack_id);
  out.key("ServerIndex").integer(info.server_index).end_object();
  return parted(out.text(), time_at);
}

ClusterEntry cluster_entry(const std::string& node, SwitchInfo info) {
  info.update_time = 0;
  const std::string name = std::string(kSwitchEntryPrefix) + node;
  JsonWriter out;
  out.begin_object().key(name).begin_object();
  const std::size_t time_at = append_switch_info(out, info);
  out.field("CmName", name).end_object();
  return parted(out.text(), time_at);
}

ClusterEntry cluster_entry(const std::string& node, const NodeInfo& info) {
  const std::string name = std::string(kNodeInfoPrefix) + node;
  JsonWriter out;
  out.begin_object().key(name).begin_object();
  append_node_info(out, info);
  out.field("CmName", name).end_object();
  return parted(out.text(), 0);
}

}  // namespace chipweave::codec::mindcluster
