#include "common/codec/mindcluster/node/device_info.hpp"

#include <map>

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/text/go_form.hpp"

namespace chipweave::codec::mindcluster {
namespace {

std::string key_of(std::string_view prefix, std::string_view suffix) {
  return "huawei.com/" + std::string(prefix) + std::string(suffix);
}

}  // namespace

void append_device_list(JsonWriter& out, const DeviceInfo& info) {
  std::map<std::string, std::string> list;
  const auto chips = [&](std::string_view suffix, const std::vector<int>& of) {
    list[key_of(info.prefix, suffix)] = write_chip_list(info.prefix, of);
  };
  if (info.available) chips("", *info.available);
  if (info.network_unhealthy) chips("-NetworkUnhealthy", *info.network_unhealthy);
  chips("-Unhealthy", info.unhealthy);
  chips("-Recovering", info.recovering);
  list[key_of(info.prefix, "-Fault")] = write_chip_faults(info.faults);
  out.key("DeviceList").string_map(list).key("UpdateTime").integer(info.update_time);
}

std::string write_device_info(const DeviceInfo& info, const Digest& sha256) {
  JsonWriter covered;
  covered.begin_object();
  append_device_list(covered, info);
  covered.end_object();
  const std::string form = go_form(covered.text());
  JsonWriter out;
  out.begin_object().key("DeviceInfo").raw(form);
  out.key("SuperPodID").integer(info.super_pod_id);
  out.key("ServerIndex").integer(info.server_index);
  out.field("CheckCode", check_code(form, sha256));
  if (info.rack_id) out.key("RackID").integer(*info.rack_id);
  out.end_object();
  return out.take();
}

}  // namespace chipweave::codec::mindcluster
