#include "node-agent/publish/compat/mindcluster_content.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "common/codec/mindcluster/chip_list.hpp"
#include "common/codec/mindcluster/device_info.hpp"
#include "common/codec/mindcluster/node_annotations.hpp"
#include "common/codec/mindcluster/node_labels.hpp"
#include "node-agent/publish/compat/fact_names.hpp"
#include "node-agent/publish/compat/label_value.hpp"
#include "node-agent/publish/compat/mindcluster_faults.hpp"

namespace chipweave::agent {
namespace {

namespace mc = codec::mindcluster;
using domain::Chip;
using domain::Effect;
using domain::Health;

bool is_ascend(const NodeState& state) { return state.topology.vendor() == "ascend"; }

std::string_view fact(const NodeState& state, const char* name) {
  const auto found = state.facts.find(name);
  return found == state.facts.end() ? std::string_view() : std::string_view(found->second);
}

template <class Number>
std::optional<Number> number_of(std::string_view digits) {
  Number out = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, failed] = std::from_chars(digits.data(), end, out);
  return failed == std::errc() && rest == end ? std::optional(out) : std::nullopt;
}

struct Place {
  std::int32_t super_pod = mc::kIdUnsupported;
  std::int32_t server = mc::kIdUnsupported;
};

// The driver says 0xffffffff for what it was not told.
Place place_of(const NodeState& state) {
  Place out;
  const auto& pod = state.topology.super_pod();
  if (!pod || !has_super_pod(ascend_family_of(state.topology))) return out;
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  if (const auto id = number_of<std::uint32_t>(pod->id)) {
    out.super_pod = *id <= static_cast<std::uint32_t>(kMost) ? static_cast<std::int32_t>(*id)
                                                             : mc::kIdUnreported;
  }
  out.server = pod->server_index >= 0 ? pod->server_index : mc::kIdUnreported;
  return out;
}

// Whether all that makes it unusable is over, and only its time of probation is not.
bool is_recovering(const NodeState& state, const Chip& chip) {
  bool any = false;
  for (const domain::Fault& fault : state.faults) {
    if (fault.effect != Effect::unusable || fault.chip != chip.index) continue;
    if (fault.held_until <= 0) return false;
    any = true;
  }
  return any;
}

bool has_network_fault(const NodeState& state, const Chip& chip) {
  return chip.health == Health::network_unhealthy ||
         std::any_of(state.faults.begin(), state.faults.end(), [&](const domain::Fault& fault) {
           return fault.effect == Effect::network && fault.chip == chip.index;
         });
}

mc::DeviceInfo device_info_of(const NodeState& state, const AscendNames& names,
                              const std::vector<domain::ChipIndex>& in_use) {
  mc::DeviceInfo out;
  out.prefix = names.prefix();
  out.available.emplace();
  if (has_chip_network(names.generation())) out.network_unhealthy.emplace();
  for (const Chip& chip : state.topology.chips()) {
    const int number = names.number(chip);
    if (chip.health == Health::unhealthy) {
      out.unhealthy.push_back(number);
      if (is_recovering(state, chip)) out.recovering.push_back(number);
    } else if (std::find(in_use.begin(), in_use.end(), chip.index) == in_use.end()) {
      out.available->push_back(number);
    }
    if (out.network_unhealthy && has_network_fault(state, chip))
      out.network_unhealthy->push_back(number);
  }
  out.faults = chip_faults_of(names, state.faults);
  const Place place = place_of(state);
  out.super_pod_id = place.super_pod;
  out.server_index = place.server;
  if (names.generation() == AscendFamily::a5) {
    out.rack_id = number_of<std::int32_t>(fact(state, facts::kAscendRack));
  }
  return out;
}

std::string base_devices_of(const NodeState& state, const AscendNames& names) {
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
std::string chip_name_of(const NodeState& state, const AscendNames& names) {
  constexpr std::string_view kAscend = "Ascend";
  std::string_view name = fact(state, facts::kAscendChipName);
  if (name.empty()) name = state.topology.chip(0).model;
  if (name.empty()) name = state.topology.model();
  if (names.generation() != AscendFamily::a5 && name.starts_with(kAscend))
    name.remove_prefix(kAscend.size());
  return label_value(name);
}

// The card type of A3 is not laid down.
std::string_view card_of(AscendFamily generation) {
  if (generation == AscendFamily::a3) return "";
  return generation == AscendFamily::a2 ? "Ascend910B" : ascend_prefix(generation);
}

codec::StringMap labels_of(const NodeState& state, const AscendNames& names) {
  codec::StringMap out;
  out["accelerator"] = "huawei-" + std::string(names.prefix());
  if (std::string name = chip_name_of(state, names); !name.empty())
    out[std::string(mc::kChipNameLabel)] = std::move(name);
  const std::string_view card = card_of(names.generation());
  const auto cores = number_of<int>(fact(state, facts::kAscendAiCores));
  if (!card.empty() && cores && *cores > 0 && *cores <= mc::kMostAiCores) {
    out[std::string(mc::kServerTypeLabel)] = mc::write_server_type({std::string(card), *cores});
  }
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
  const std::uint64_t gigabytes = (state.topology.chip(0).memory_bytes + kGiB / 2) / kGiB;
  if (gigabytes > 0 && gigabytes <= mc::kMostChipGigabytes) {
    out[std::string(mc::kChipMemoryLabel)] = mc::write_chip_memory(static_cast<int>(gigabytes));
  }
  return out;
}

}  // namespace

codec::StringMap device_info_data(const NodeState& state,
                                  const std::vector<domain::ChipIndex>& in_use,
                                  std::int64_t update_time, const mc::Digest& sha256) {
  codec::StringMap out;
  if (!is_ascend(state)) return out;
  const AscendNames names(state.topology);
  mc::DeviceInfo info = device_info_of(state, names, in_use);
  info.update_time = update_time;
  out[std::string(mc::kDeviceInfoKey)] = mc::write_device_info(info, sha256);
  if (has_super_pod(names.generation())) {
    out[std::string(mc::kSwitchInfoKey)] =
        mc::write_switch_info(switch_info_of(state.faults, update_time));
  }
  return out;
}

std::optional<codec::StringMap> node_info_data(const NodeState& state, const mc::Digest& sha256) {
  const auto info = is_ascend(state) ? node_info_of(state.faults) : std::nullopt;
  if (!info) return std::nullopt;
  return codec::StringMap{{std::string(mc::kNodeInfoKey), mc::write_node_info(*info, sha256)}};
}

NodeMarks mindcluster_marks(const NodeState& state) {
  NodeMarks out;
  if (!is_ascend(state)) return out;
  const AscendNames names(state.topology);
  const Place place = place_of(state);
  out.labels = labels_of(state, names);
  out.annotations[std::string(mc::kBaseDevicesAnnotation)] = base_devices_of(state, names);
  out.annotations[std::string(mc::kSuperPodIdAnnotation)] = std::to_string(place.super_pod);
  out.annotations[std::string(mc::kServerIndexAnnotation)] = std::to_string(place.server);
  out.annotations["serverType"] = server_type_of(names.generation());
  if (const auto rack = number_of<std::int32_t>(fact(state, facts::kAscendRack));
      rack && names.generation() == AscendFamily::a5) {
    out.annotations["rackID"] = std::to_string(*rack);
  }
  return out;
}

Result<std::vector<domain::ChipIndex>> manually_separated(const NodeState& state,
                                                          std::string_view text) {
  std::vector<domain::ChipIndex> out;
  if (!is_ascend(state)) return out;
  const AscendNames names(state.topology);
  const auto listed = mc::read_chip_list(names.prefix(), text);
  if (!listed) return Error(listed.error()).in(std::string(mc::kManuallySeparateKey));
  for (const int number : *listed) {
    if (const auto chip = names.index_of(number)) out.push_back(*chip);
  }
  return out;
}

}  // namespace chipweave::agent
