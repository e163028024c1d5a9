#include "common/codec/mindcluster/node/device_content.hpp"

#include <algorithm>
#include <limits>

#include "common/base/text.hpp"
#include "common/codec/mindcluster/ascend_names.hpp"
#include "common/codec/mindcluster/faults/reported_faults.hpp"

namespace chipweave::codec::mindcluster {
namespace {

using domain::Chip;
using domain::Effect;
using Faults = std::vector<domain::Fault>;

// Whether every cause of unusability has ended and only the hold time is still running.
bool is_recovering(const Faults& faults, const Chip& chip) {
  bool any = false;
  for (const domain::Fault& fault : faults) {
    if (fault.effect != Effect::unusable || fault.chip != chip.index) continue;
    if (fault.held_until <= 0) return false;
    any = true;
  }
  return any;
}

bool has_network_fault(const Faults& faults, const Chip& chip) {
  return std::any_of(faults.begin(), faults.end(), [&](const domain::Fault& fault) {
    return fault.effect == Effect::network && fault.chip == chip.index;
  });
}

}  // namespace

// The driver reports unset values as 0xffffffff.
SuperPodPlace super_pod_place_of(const domain::NodeTopology& topology) {
  SuperPodPlace out;
  const auto& pod = topology.super_pod();
  if (!pod || !has_super_pod(domain::ascend_family_of(topology))) return out;
  constexpr auto kMax = std::numeric_limits<std::int32_t>::max();
  if (const auto id = parse_number<std::uint32_t>(pod->id)) {
    out.super_pod =
        *id <= static_cast<std::uint32_t>(kMax) ? static_cast<std::int32_t>(*id) : kIdUnreported;
  }
  out.server = pod->server_index >= 0 ? pod->server_index : kIdUnreported;
  return out;
}

std::optional<std::int32_t> rack_of(const domain::NodeTopology& topology, std::string_view fact) {
  if (domain::ascend_family_of(topology) != domain::AscendFamily::a5) return std::nullopt;
  return parse_number<std::int32_t>(fact);
}

DeviceInfo device_info_of(const domain::NodeTopology& topology, const ChipStates& states,
                          const Faults& faults) {
  const AscendNames names(topology);
  DeviceInfo out;
  out.prefix = names.prefix();
  out.available.emplace();
  if (has_chip_network(names.generation())) out.network_unhealthy.emplace();
  for (const int slot : topology.all()) {
    const Chip& chip = topology.chip(slot);
    const int number = names.number(chip);
    if (states.unhealthy.contains(slot)) {
      out.unhealthy.push_back(number);
      if (is_recovering(faults, chip)) out.recovering.push_back(number);
    } else if (!states.in_use.contains(slot)) {
      out.available->push_back(number);
    }
    if (!out.network_unhealthy) continue;
    if (states.network_unhealthy.contains(slot) || has_network_fault(faults, chip))
      out.network_unhealthy->push_back(number);
  }
  out.faults = chip_faults_of(names, faults);
  const SuperPodPlace place = super_pod_place_of(topology);
  out.super_pod_id = place.super_pod;
  out.server_index = place.server;
  return out;
}

}  // namespace chipweave::codec::mindcluster
