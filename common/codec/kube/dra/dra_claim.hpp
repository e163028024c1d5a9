// DraClaim — a ResourceClaim as the node's driver sees it when the kubelet has it prepared: which
// devices are allocated, of whichever driver, and for which of its requests.
//
// Source: k8s.io/api/resource/v1, ResourceClaim.status.allocation.devices.results.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

// Kubernetes' own limit (AllocationResultsMaxSize): a claim with more is not one.
inline constexpr std::size_t kMaxClaimDevices = 32;

// "true" on claims all of whose devices go to one container, so that their environment can list all
// of them. Without it, that is known of claims with one request only.
inline constexpr const char* kOneContainerAnnotation = "chipweave.dev/one-container";

struct AllocatedResult {
  std::string request;  // of the claim; without the part of a subrequest
  std::string driver;
  std::string pool;
  std::string device;
  bool admin = false;   // admin access: the device may be allocated elsewhere, too
  bool shared = false;  // a share of a device that several claims may have
  friend bool operator==(const AllocatedResult&, const AllocatedResult&) = default;
};

struct DraClaim {
  std::string ns;
  std::string name;
  std::string uid;
  bool one_container = false;
  std::vector<AllocatedResult> results;  // in the order of the claim; empty: not allocated
};

// Errors: invalid_argument, with the key; limit_exceeded for more than kMaxClaimDevices.
Result<DraClaim> read_dra_claim(std::string& body);

}  // namespace chipweave::codec
