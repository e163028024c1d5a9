#include "tests/fakes/agent/mindcluster_reader.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/text/go_form.hpp"
#include "common/http/sha256.hpp"

namespace chipweave::test {
namespace {

namespace mc = codec::mindcluster;
using Json = nlohmann::json;

constexpr const char* kResources = "huawei.com/";

// The list of unhealthy chips is always there.
std::string prefix_in(const Json& list) {
  const std::string suffix = "-Unhealthy";
  for (const auto& entry : list.items()) {
    const std::string& key = entry.key();
    if (key.starts_with(kResources) && key.ends_with(suffix)) {
      const std::string name = key.substr(std::string(kResources).size());
      return name.substr(0, name.size() - suffix.size());
    }
  }
  throw std::runtime_error("names no chips: " + list.dump());
}

mc::ChipFault fault_in(const Json& fault) {
  mc::ChipFault out;
  out.type = fault.at("fault_type");
  out.npu = fault.at("npu_name");
  out.level = fault.at("fault_level");
  out.code = fault.at("fault_code");
  return out;
}

// info: {"DeviceList":{…},"UpdateTime":N}; place: what has SuperPodID and ServerIndex.
mc::DeviceInfo info_in(const Json& info, const Json& place) {
  const Json& list = info.at("DeviceList");
  mc::DeviceInfo out;
  out.prefix = prefix_in(list);
  const auto chips = [&](const std::string& suffix) -> std::optional<std::vector<int>> {
    const auto at = list.find(kResources + out.prefix + suffix);
    if (at == list.end()) return std::nullopt;
    return mc::read_chip_list(out.prefix, at->get<std::string>()).value();
  };
  out.available = chips("");
  out.network_unhealthy = chips("-NetworkUnhealthy");
  out.unhealthy = chips("-Unhealthy").value();
  out.recovering = chips("-Recovering").value();
  const std::string faults = list.at(kResources + out.prefix + "-Fault");
  for (const Json& fault : Json::parse(faults)) out.faults.push_back(fault_in(fault));
  out.update_time = info.at("UpdateTime");
  out.super_pod_id = place.at("SuperPodID");
  out.server_index = place.at("ServerIndex");
  if (place.contains("RackID")) out.rack_id = place.at("RackID").get<std::int32_t>();
  return out;
}

}  // namespace

mc::DeviceInfo device_info_in(const std::string& text) {
  const Json document = Json::parse(text);
  const Json& covered = document.at("DeviceInfo");
  const std::string code = mc::check_code(codec::go_form(covered.dump()), http::sha256);
  if (document.at("CheckCode") != code) throw std::runtime_error("wrong CheckCode: " + text);
  return info_in(covered, document);
}

std::map<std::string, mc::DeviceInfo> cluster_devices_in(const std::string& text) {
  std::map<std::string, mc::DeviceInfo> out;
  const Json nodes = Json::parse(text);
  for (const auto& node : nodes.items()) {
    const std::string& name = node.key();
    if (!name.starts_with(mc::kDeviceInfoPrefix)) throw std::runtime_error("no node: " + name);
    out[name.substr(mc::kDeviceInfoPrefix.size())] = info_in(node.value(), node.value());
  }
  return out;
}

}  // namespace chipweave::test
