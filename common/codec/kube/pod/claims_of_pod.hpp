// ClaimsOfPod — the ResourceClaims (DRA) that a pod names.
#pragma once

#include <string>
#include <vector>

namespace chipweave::codec {

struct ClaimOfPodSpec {
  std::string name;   // in the pod
  std::string claim;  // the ResourceClaim's; empty: not made yet
  bool none = false;  // the pod needs no claim of that name after all
};

struct ClaimsOfPod {
  std::vector<ClaimOfPodSpec> claims;
};

}  // namespace chipweave::codec
