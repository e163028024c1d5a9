#include "common/codec/mindcluster/node/node_annotations.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/text/go_form.hpp"

namespace chipweave::codec::mindcluster {

std::string write_base_devices(std::string_view prefix, const BaseDevices& devices) {
  std::map<std::string, const BaseDevice*> by_name;
  for (const auto& [chip, device] : devices) by_name[chip_name(prefix, chip)] = &device;
  JsonWriter out;
  out.begin_object();
  for (const auto& [name, device] : by_name) {
    out.key(name).begin_object().field("IP", device->ip);
    if (device->super_device_id) out.key("SuperDeviceID").integer(*device->super_device_id);
    out.end_object();
  }
  out.end_object();
  return go_form(out.text());
}

}  // namespace chipweave::codec::mindcluster
