#include "node-agent/dra/offered_devices.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::agent::dra {
namespace {

constexpr std::size_t kMaxProblemBytes = 200;

// The worst fault of the chip says why.
std::string problem_of(const NodeState& state, const domain::Chip& chip) {
  if (chip.health != domain::Health::unhealthy) return "";
  for (const domain::Fault& fault : state.faults) {
    if (fault.chip != chip.index) continue;
    return with_dots(fault.code + (fault.text.empty() ? "" : ": " + fault.text), kMaxProblemBytes);
  }
  return "it is unhealthy";
}

int root_of(std::vector<int>& parent, int slot) {
  while (parent[static_cast<std::size_t>(slot)] != slot) {
    slot = parent[static_cast<std::size_t>(slot)];
  }
  return slot;
}

void join(std::vector<int>& parent, int a, int b) {
  const int first = root_of(parent, a);
  const int second = root_of(parent, b);
  parent[static_cast<std::size_t>(std::max(first, second))] = std::min(first, second);
}

}  // namespace

std::vector<OfferedDevice> offered_devices(const NodeState& state) {
  const std::string prefix = lower_case(domain::vendor_of(state.topology).chip_word) + "-";
  std::vector<OfferedDevice> out;
  for (int slot = 0; slot < state.topology.chip_count(); ++slot) {
    const domain::Chip& chip = state.topology.chip(slot);
    OfferedDevice device;
    device.name = prefix + std::to_string(chip.index.value);
    device.slot = slot;
    device.chip = chip.id.empty() ? chip.pci : chip.id;
    device.problem = problem_of(state, chip);
    device.network_unhealthy = chip.health == domain::Health::network_unhealthy;
    out.push_back(std::move(device));
  }
  return out;
}

std::vector<int> fabric_islands(const domain::NodeTopology& topology) {
  const int count = topology.chip_count();
  std::vector<int> parent;
  parent.reserve(static_cast<std::size_t>(count));
  for (int slot = 0; slot < count; ++slot) parent.push_back(slot);
  for (const domain::DirectLink& link : topology.links()) {
    if (link.lanes_up() > 0) join(parent, link.a, link.b);
  }
  for (const domain::Switch& each : topology.switches()) {
    int first = -1;
    for (const domain::SwitchPort& port : each.ports) {
      if (port.lanes_up() == 0) continue;
      if (first >= 0) join(parent, first, port.slot);
      first = first < 0 ? port.slot : first;
    }
  }
  std::vector<int> out(static_cast<std::size_t>(count), -1);
  int islands = 0;
  for (int slot = 0; slot < count; ++slot) {
    int& of_root = out[static_cast<std::size_t>(root_of(parent, slot))];
    if (of_root < 0) of_root = islands++;
    out[static_cast<std::size_t>(slot)] = of_root;
  }
  return out;
}

std::string fabric_name(const domain::NodeTopology& topology) {
  const auto name = [](domain::LinkKind kind) -> std::string {
    switch (kind) {
      case domain::LinkKind::nvlink:
      case domain::LinkKind::nvswitch:
        return "nvlink";
      case domain::LinkKind::hccs:
      case domain::LinkKind::sio:
        return "hccs";
      default:
        return lower_case(domain::to_string(kind));
    }
  };
  if (!topology.switches().empty()) return name(topology.switches().front().kind);
  if (!topology.links().empty()) return name(topology.links().front().kind);
  return "";
}

}  // namespace chipweave::agent::dra
