#include "node-agent/probes/nvidia/nvml_topology.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/codec/topology/device_models.hpp"
#include "common/codec/topology/warnings.hpp"
#include "common/domain/topology_builder.hpp"
#include "node-agent/probes/nvidia/nvml_abi.hpp"
#include "node-agent/probes/nvidia/nvml_wiring.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Health;
using domain::LinkKind;

constexpr unsigned kFabricCompleted = 3;
constexpr unsigned kFabricUnhealthy = 2;
constexpr unsigned kFabricLimited = 3;

// What is wrong with a device as a whole; "" if nothing is.
std::string illness_of(const NvmlDevice& device) {
  if (device.lost) return "has fallen off the bus";
  if (!device.failure.empty()) return "cannot be used: " + device.failure;
  if (device.remapped_rows && device.remapped_rows->failure) return "could not remap a memory row";
  const unsigned action = device.recovery_action.value_or(0);
  return action == 0 ? "" : "waits for recovery action " + std::to_string(action);
}

// What people should know of a device that still serves.
std::vector<std::string> remarks_of(const NvmlDevice& device) {
  std::vector<std::string> out;
  if ((device.remapped_rows && device.remapped_rows->pending) ||
      device.retired_pages_pending.value_or(false)) {
    out.emplace_back("has memory to take out of use and should be reset");
  }
  if (has_mig(device)) out.emplace_back("has MIG on: left out of NVLink sets");
  if (!device.fabric || device.fabric->state == 0) return out;
  if (device.fabric->state != kFabricCompleted || device.fabric->status != nvml::kSuccess) {
    out.push_back("has not joined its NVLink fabric (state " +
                  std::to_string(device.fabric->state) + ", status " +
                  std::to_string(device.fabric->status) + ")");
  }
  if (device.fabric->health_summary == kFabricLimited) {
    out.emplace_back("has limited capacity in its NVLink fabric");
  }
  return out;
}

class Assembly {
 public:
  Assembly(const NvmlSnapshot& snapshot, codec::Warnings& warnings)
      : snapshot_(snapshot), warnings_(warnings) {}

  Result<domain::NodeTopology> run() {
    if (snapshot_.devices.empty()) return make_error(Errc::not_found, "NVML lists no GPU");
    builder_.vendor = "nvidia";
    builder_.model = model();
    for (const NvmlDevice& device : snapshot_.devices) add_chip(device);
    for (const NvmlPair& pair : snapshot_.pairs) {
      builder_.add_link(ChipIndex{pair.a}, ChipIndex{pair.b}, pair.path);
    }
    NvmlWiring wiring(snapshot_, warnings_);
    for (const auto& [pair, lanes] : wiring.direct()) {
      builder_.add_link(index(pair.first), index(pair.second), LinkKind::nvlink, lanes.total,
                        rate({pair.first, pair.second}), lanes.down);
    }
    add_switch(wiring);
    return std::move(builder_).build();
  }

 private:
  const NvmlDevice& device(int at) const { return snapshot_.devices[static_cast<std::size_t>(at)]; }
  ChipIndex index(int at) const { return ChipIndex{device(at).index}; }

  // A lost device may not know its name any more.
  std::string model() const {
    std::vector<std::string> names;
    for (const NvmlDevice& d : snapshot_.devices) {
      if (!d.name.empty()) names.push_back(d.name);
    }
    return codec::common_text(names, "");
  }

  void add_chip(const NvmlDevice& device) {
    domain::Chip chip;
    chip.index = ChipIndex{device.index};
    chip.id = device.uuid;
    chip.model = device.name;
    chip.pci = device.pci;
    chip.numa = device.numa.value_or(-1);
    chip.memory_bytes = device.memory_bytes.value_or(0);
    const std::string name = "GPU " + std::to_string(device.index) + " ";
    if (const std::string illness = illness_of(device); !illness.empty()) {
      chip.health = Health::unhealthy;
      warnings_.add(name + illness);
    } else if (device.fabric && device.fabric->health_summary == kFabricUnhealthy) {
      chip.health = Health::network_unhealthy;
      warnings_.add(name + "is unhealthy in its NVLink fabric");
    }
    for (const std::string& remark : remarks_of(device)) warnings_.add(name + remark);
    builder_.add_chip(std::move(chip));
  }

  void add_switch(const NvmlWiring& wiring) {
    std::vector<domain::TopologyBuilder::Port> ports;
    std::vector<int> members;
    for (const auto& [at, lanes] : wiring.switched()) {
      ports.push_back({index(at), lanes.total, lanes.down});
      members.push_back(at);
    }
    if (ports.empty()) return;
    builder_.add_switch("nvswitch", LinkKind::nvswitch, std::move(ports), rate(members));
  }

  // Of one lane, the slowest end's; nullopt: as the model's name suggests.
  std::optional<double> rate(const std::vector<int>& devices) const {
    std::optional<double> slowest;
    for (const int at : devices) {
      const auto own = codec::nvlink_gbps_of_sm(device(at).sm.value_or(0));
      if (own) slowest = slowest ? std::min(*slowest, *own) : *own;
    }
    return slowest;
  }

  const NvmlSnapshot& snapshot_;
  codec::Warnings& warnings_;
  domain::TopologyBuilder builder_;
};

}  // namespace

Result<domain::NodeTopology> topology_of(const NvmlSnapshot& snapshot,
                                         std::vector<std::string>& warnings) {
  codec::Warnings found;
  auto topology = Assembly(snapshot, found).run();
  for (std::string& text : std::move(found).list()) warnings.push_back(std::move(text));
  return topology;
}

}  // namespace chipweave::agent
