// The kubelet's checkpoint of prepared claims, dra_manager_state in its folder: which pods use
// which devices of DRA drivers, by the uid of the pod. The kubelet replaces the file once the
// drivers have prepared the claims of a pod, before its first container starts, and again when it
// has ended them.
//
// It is the kubelet's own file and no API, but its form has been the same since Kubernetes 1.32
// (k8s.io/kubernetes, pkg/kubelet/cm/dra/state), and reading it disturbs nothing.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct KubeletClaimDevice {
  std::string driver;
  std::string pool;
  std::string device;
  std::string ns;  // of the claim and its pods
  std::string claim;
  std::string pod_uid;
  friend auto operator<=>(const KubeletClaimDevice&, const KubeletClaimDevice&) = default;
};
using KubeletClaimDevices = std::vector<KubeletClaimDevice>;  // ascending, each once

// A claim that is still being prepared has no devices. The checksum is not verified: a file that is
// not whole is not JSON. Errors: invalid_argument; limit_exceeded above
// limits::kMaxPodResourcesBytes or kMaxCheckpointedDevices.
Result<KubeletClaimDevices> read_kubelet_claims(std::string_view text);

}  // namespace chipweave::codec
