#include "node-agent/probes/nvidia/nvml_topology.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/codec/text/warnings.hpp"
#include "common/codec/topology/hardware/device_models.hpp"
#include "common/domain/topology_builder.hpp"
#include "node-agent/probes/nvidia/nvml_wiring.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

class Assembly {
 public:
  Assembly(const NvmlSnapshot& snapshot, FabricPartitions partitions)
      : snapshot_(snapshot), partitions_(partitions) {}

  Result<NvmlTopology> run() {
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
    for (auto& chips : fabric_partitions(snapshot_, partitions_, warnings_)) {
      builder_.add_partition(std::move(chips));
    }
    auto built = std::move(builder_).build();
    if (!built) return std::move(built).error();
    return NvmlTopology{std::move(built).value(), wiring.ports(), std::move(warnings_).list()};
  }

 private:
  const NvmlDevice& device(int at) const { return snapshot_.devices[static_cast<std::size_t>(at)]; }
  ChipIndex index(int at) const { return ChipIndex{device(at).index}; }

  // A lost device may no longer report its name.
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
    if (has_mig(device)) {
      warnings_.add("GPU " + std::to_string(device.index) +
                    " has MIG enabled: its NVLinks are ignored");
    }
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

  // Of one lane, at the slower end; nullopt: the default of the model.
  std::optional<double> rate(const std::vector<int>& devices) const {
    std::optional<double> slowest;
    for (const int at : devices) {
      const auto own = codec::nvlink_gbps_of_sm(device(at).sm.value_or(0));
      if (own) slowest = slowest ? std::min(*slowest, *own) : *own;
    }
    return slowest;
  }

  const NvmlSnapshot& snapshot_;
  FabricPartitions partitions_;
  codec::Warnings warnings_;
  domain::TopologyBuilder builder_;
};

}  // namespace

Result<NvmlTopology> topology_of(const NvmlSnapshot& snapshot, FabricPartitions partitions) {
  return Assembly(snapshot, partitions).run();
}

}  // namespace chipweave::agent
