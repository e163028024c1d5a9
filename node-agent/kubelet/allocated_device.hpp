// AllocatedDevice — a device that the kubelet has allocated to a container, as its device plugin
// names it.
#pragma once

#include <compare>
#include <string>
#include <vector>

namespace chipweave::agent {

struct AllocatedDevice {
  std::string resource;  // "huawei.com/Ascend910"
  std::string id;        // "Ascend910-3"
  std::string ns = {};   // of the pod
  std::string pod = {};
  std::string container = {};
  friend auto operator<=>(const AllocatedDevice&, const AllocatedDevice&) = default;
};
using AllocatedDevices = std::vector<AllocatedDevice>;  // ascending, each once

}  // namespace chipweave::agent
