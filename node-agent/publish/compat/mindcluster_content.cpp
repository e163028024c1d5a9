#include "node-agent/publish/compat/mindcluster_content.hpp"

#include <utility>

#include "common/base/text.hpp"
#include "common/codec/mindcluster/ascend_names.hpp"
#include "common/codec/mindcluster/faults/reported_faults.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/mindcluster/names/node_labels.hpp"
#include "common/codec/mindcluster/node/device_content.hpp"
#include "common/codec/mindcluster/node/device_info.hpp"
#include "common/codec/mindcluster/node/node_annotations.hpp"
#include "common/domain/vendor.hpp"
#include "node-agent/publish/compat/fact_names.hpp"
#include "node-agent/publish/compat/label_value.hpp"

namespace chipweave::agent {
namespace {

namespace mc = codec::mindcluster;
using domain::AscendFamily;
using domain::Chip;

bool is_ascend(const NodeState& state) { return domain::vendor_of(state.topology).in_mindcluster; }

mc::ChipStates states_of(const NodeState& state, const std::vector<domain::ChipIndex>& in_use) {
  mc::ChipStates out{state.topology.unhealthy(), state.topology.network_unhealthy(), {}};
  for (const domain::ChipIndex chip : in_use) {
    if (const auto slot = state.topology.slot_of(chip)) out.in_use.insert(*slot);
  }
  return out;
}

std::string base_devices_of(const NodeState& state, const mc::AscendNames& names) {
  mc::BaseDevices devices;
  for (const Chip& chip : state.topology.chips()) {
    mc::BaseDevice& device = devices[names.number(chip)];
    if (!chip.device_ips.empty()) device.ip = chip.device_ips.front();
    device.super_device_id = chip.super_device_id;
  }
  return mc::write_base_devices(names.prefix(), devices);
}

const char* server_type_of(AscendFamily generation) {
  if (generation == AscendFamily::a3) return "A3";
  return generation == AscendFamily::a5 ? "npu" : "";
}

// "910B3" of "Ascend910B3"; of A5 the whole name.
std::string chip_name_of(const NodeState& state, const mc::AscendNames& names) {
  constexpr std::string_view kAscend = "Ascend";
  std::string_view name = facts::value_of(state, facts::kAscendChipName);
  if (name.empty()) name = state.topology.chip(0).model;
  if (name.empty()) name = state.topology.model();
  if (names.generation() != AscendFamily::a5 && name.starts_with(kAscend))
    name.remove_prefix(kAscend.size());
  return label_value(name);
}

// MindCluster defines no card type for A3.
std::string_view card_of(AscendFamily generation) {
  if (generation == AscendFamily::a3) return "";
  return generation == AscendFamily::a2 ? "Ascend910B" : domain::ascend_prefix(generation);
}

codec::StringMap labels_of(const NodeState& state, const mc::AscendNames& names) {
  codec::StringMap out;
  out["accelerator"] = "huawei-" + std::string(names.prefix());
  if (std::string name = chip_name_of(state, names); !name.empty())
    out[std::string(mc::kChipNameLabel)] = std::move(name);
  const std::string_view card = card_of(names.generation());
  const auto cores = parse_number<int>(facts::value_of(state, facts::kAscendAiCores));
  if (!card.empty() && cores && *cores > 0 && *cores <= mc::kMaxAiCores) {
    out[std::string(mc::kServerTypeLabel)] = std::string(card) + "-" + std::to_string(*cores);
  }
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
  const std::uint64_t gigabytes = (state.topology.chip(0).memory_bytes + kGiB / 2) / kGiB;
  if (gigabytes > 0 && gigabytes <= mc::kMaxChipGigabytes) {
    out[std::string(mc::kChipMemoryLabel)] = std::to_string(gigabytes) + "G";
  }
  return out;
}

}  // namespace

codec::StringMap device_info_data(const NodeState& state,
                                  const std::vector<domain::ChipIndex>& in_use,
                                  std::int64_t update_time, const mc::Digest& sha256) {
  codec::StringMap out;
  if (!is_ascend(state)) return out;
  const mc::AscendNames names(state.topology);
  mc::DeviceInfo info = mc::device_info_of(state.topology, states_of(state, in_use), state.faults);
  info.rack_id = mc::rack_of(state.topology, facts::value_of(state, mc::kRackFact));
  info.update_time = update_time;
  out[std::string(mc::kDeviceInfoKey)] = mc::write_device_info(info, sha256);
  if (mc::has_super_pod(names.generation())) {
    out[std::string(mc::kSwitchInfoKey)] =
        mc::write_switch_info(mc::switch_faults_of(state.faults, update_time));
  }
  return out;
}

std::optional<codec::StringMap> node_info_data(const NodeState& state, const mc::Digest& sha256) {
  const auto info = is_ascend(state) ? mc::node_faults_of(state.faults) : std::nullopt;
  if (!info) return std::nullopt;
  return codec::StringMap{{std::string(mc::kNodeInfoKey), mc::write_node_info(*info, sha256)}};
}

NodeMetadata mindcluster_metadata(const NodeState& state) {
  NodeMetadata out;
  if (!is_ascend(state)) return out;
  const mc::AscendNames names(state.topology);
  const mc::SuperPodPlace place = mc::super_pod_place_of(state.topology);
  out.labels = labels_of(state, names);
  out.annotations[std::string(mc::kBaseDevicesAnnotation)] = base_devices_of(state, names);
  out.annotations[std::string(mc::kSuperPodIdAnnotation)] = std::to_string(place.super_pod);
  out.annotations[std::string(mc::kServerIndexAnnotation)] = std::to_string(place.server);
  out.annotations["serverType"] = server_type_of(names.generation());
  if (const auto rack = mc::rack_of(state.topology, facts::value_of(state, mc::kRackFact))) {
    out.annotations["rackID"] = std::to_string(*rack);
  }
  return out;
}

Result<std::vector<domain::ChipIndex>> manually_separated(const NodeState& state,
                                                          std::string_view text) {
  std::vector<domain::ChipIndex> out;
  if (!is_ascend(state)) return out;
  const mc::AscendNames names(state.topology);
  const auto listed = mc::read_chip_list(names.prefix(), text);
  if (!listed) return Error(listed.error()).in(std::string(mc::kManuallySeparateKey));
  for (const int number : *listed) {
    if (const auto chip = names.index_of(number)) out.push_back(*chip);
  }
  return out;
}

}  // namespace chipweave::agent
