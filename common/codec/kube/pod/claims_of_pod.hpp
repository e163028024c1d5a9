// ClaimsOfPod — the ResourceClaims (DRA) that a pod names, and which nodes it may run on.
#pragma once

#include <string>
#include <vector>

#include "common/domain/node_selection.hpp"

namespace chipweave::codec {

struct ClaimOfPodSpec {
  std::string name;   // in the pod
  std::string claim;  // the ResourceClaim's; empty: not made yet
  bool none = false;  // the pod needs no claim of that name after all
};

struct ClaimsOfPod {
  std::vector<ClaimOfPodSpec> claims;
  domain::NodeWishes nodes;
};

}  // namespace chipweave::codec
