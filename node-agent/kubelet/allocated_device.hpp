// AllocatedDevice — a device that the kubelet has allocated to a container, as its device plugin or
// its DRA driver names it.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

namespace chipweave::agent {

struct AllocatedDevice {
  std::string resource;  // "huawei.com/Ascend910"; "": through a ResourceClaim
  std::string id;        // "Ascend910-3"; through a claim: the device's name in its pool
  std::string ns = {};   // of the pod; PodResources says it, the checkpoint does not
  std::string pod = {};
  std::string container = {};
  std::string pod_uid = {};  // the checkpoint says it, PodResources does not
  std::string driver = {};   // through a ResourceClaim: of the device
  std::string pool = {};
  std::string claim = {};  // likewise, in the pod's namespace
  friend auto operator<=>(const AllocatedDevice&, const AllocatedDevice&) = default;
};
using AllocatedDevices = std::vector<AllocatedDevice>;  // ascending, each once

// A machine has 64 chips at most, and a chip a few dozen slices.
inline constexpr std::size_t kMaxAllocatedDevices = 16384;

}  // namespace chipweave::agent
