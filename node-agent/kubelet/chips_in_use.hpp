// Which chips of this machine pods have, by what the kubelet has given out. Pure.
//
// Only Ascend machines are asked about: MindCluster's list of free chips is all that needs it.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// A device that a container has.
struct GivenDevice {
  std::string resource;  // "huawei.com/Ascend910"
  std::string id;        // as its device plugin calls it: "Ascend910-3"
  friend auto operator<=>(const GivenDevice&, const GivenDevice&) = default;
};
using GivenDevices = std::vector<GivenDevice>;  // ascending, each once

inline constexpr std::size_t kMostStrangers = 8;

struct ChipsInUse {
  std::vector<domain::ChipIndex> chips;  // ascending, each once
  // Devices that should be chips of this machine and are none, as far as they are worth telling:
  // "Ascend910-77 of huawei.com/Ascend910".
  std::vector<std::string> strangers;
};

// A chip of which somebody has a slice is in use: it is no whole chip for anybody else. Resources
// that tell nothing of chips are left out.
ChipsInUse chips_in_use(const domain::NodeTopology& topology, const GivenDevices& given);

}  // namespace chipweave::agent
