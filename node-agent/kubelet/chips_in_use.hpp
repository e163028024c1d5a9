// Which chips of this machine pods use, from the devices that the kubelet has allocated. Pure.
//
// For Ascend machines only: MindCluster's list of free chips is all that needs it.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// A device of a container.
struct AllocatedDevice {
  std::string resource;  // "huawei.com/Ascend910"
  std::string id;        // as its device plugin names it: "Ascend910-3"
  friend auto operator<=>(const AllocatedDevice&, const AllocatedDevice&) = default;
};
using AllocatedDevices = std::vector<AllocatedDevice>;  // ascending, each once

inline constexpr std::size_t kMaxUnknownDevices = 8;

struct ChipsInUse {
  std::vector<domain::ChipIndex> chips;  // ascending, each once
  // Devices that should be chips of this machine and are not, the first few: "Ascend910-77 of
  // huawei.com/Ascend910".
  std::vector<std::string> unknown_devices;
};

// A chip of which a slice is allocated is in use: it is no longer available as a whole. Resources
// that are not chips are ignored.
ChipsInUse chips_in_use(const domain::NodeTopology& topology, const AllocatedDevices& allocated);

}  // namespace chipweave::agent
