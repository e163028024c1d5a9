// The kubelet's checkpoint of allocated devices, device-plugins/kubelet_internal_checkpoint: who
// has which devices, by the uid of the pod. The kubelet replaces the file at the end of each
// allocation, before the container starts.
//
// It is the kubelet's own file and no API, but its form has been the same since Kubernetes 1.20
// (k8s.io/kubernetes, pkg/kubelet/cm/devicemanager/checkpoint), and reading it disturbs nothing.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct CheckpointedDevice {
  std::string resource;  // "nvidia.com/gpu"
  std::string id;        // as its device plugin names it
  std::string container;
  std::string pod_uid;
  friend auto operator<=>(const CheckpointedDevice&, const CheckpointedDevice&) = default;
};
using CheckpointedDevices = std::vector<CheckpointedDevice>;  // ascending, each once

inline constexpr std::size_t kMaxCheckpointedDevices = 16384;

// The devices of resources whose names begin with one of `resources`. A pod that has ended stays
// listed until the next allocation on its node. The checksum is not verified: a file that is not
// whole is not JSON. Errors: invalid_argument; limit_exceeded above limits::kMaxPodResourcesBytes
// or kMaxCheckpointedDevices.
Result<CheckpointedDevices> read_kubelet_checkpoint(std::string_view text,
                                                    const std::vector<std::string>& resources);

}  // namespace chipweave::codec
