// GivenChips — which chips the containers of a node really have, by the kubelet's word, whatever a
// scheduler has chosen for them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

struct GivenChips {
  struct Container {
    std::string pod_uid;  // empty: not known
    std::string ns;       // of the pod; both empty: only its uid is known
    std::string pod;
    std::string name;
    std::string resource;          // "nvidia.com/gpu"
    std::vector<ChipIndex> chips;  // ascending, each once
    bool parts = false;            // of these chips: slices, MIG instances, time slices
    friend auto operator<=>(const Container&, const Container&) = default;
  };
  std::vector<Container> containers;  // ascending
  // Devices that should be chips of the machine and are not.
  int unknown_devices = 0;
  friend bool operator==(const GivenChips&, const GivenChips&) = default;
};

inline constexpr std::size_t kMaxGivenContainers = 1024;  // of one node
inline constexpr int kMaxUnknownDevices = 65536;

}  // namespace chipweave::domain
