// What chipweave writes to ResourceClaims that others have made: merge patches that carry the
// version they are based on, so that another writer's change makes the API server refuse them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/codec/kube/watch.hpp"

namespace chipweave::codec {

// Without it the allocation outlives the pod.
inline constexpr const char* kClaimFinalizer = "resource.kubernetes.io/delete-protection";

bool has_finalizer(const KubeClaim& claim);
// Adds the finalizer, or takes it away.
std::string write_claim_finalizer(const KubeClaim& claim, bool wanted);

struct DeviceForRequest {
  std::string request;
  ClaimedDevice device;
};
// An allocation as the API server stores it.
struct ClaimAllocation {
  std::string node;
  std::vector<DeviceForRequest> results;
  // Of the class of each request, and of the claim.
  std::vector<std::pair<std::string, std::vector<OpaqueConfig>>> class_configs;
  std::vector<OpaqueConfig> claim_configs;
  std::string time;  // RFC 3339
};
// A patch of the status: allocated, and reserved for the pod.
std::string write_claim_allocation(const KubeClaim& claim, const ClaimAllocation& allocation,
                                   const ClaimConsumer& pod);
// Reserved for the pod, too.
std::string write_claim_reservation(const KubeClaim& claim, const ClaimConsumer& pod);
// Neither allocated nor reserved.
std::string write_claim_release(const KubeClaim& claim);

}  // namespace chipweave::codec
