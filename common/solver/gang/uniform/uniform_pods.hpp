// place_uniform — places interchangeable pods: as many as fit into one of the candidate domains,
// there by the gang's policy (FewestDomains or EvenShares).
#pragma once

#include <optional>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/uniform/fewest_domains.hpp"

namespace chipweave::solver {

struct UniformRequest {
  PodKind kind;
  std::vector<DomainId> candidates;  // all pods go to one of these
  domain::GangPolicy policy = domain::GangPolicy::compact;
  int preferred_level = domain::kNoLevel;
  int at_least = 1;
  FoldLimits limits = {};
};

struct UniformPlacement {
  int placed = 0;  // 0: fewer than at_least fit
  std::vector<Share> shares;
  bool exact = true;
  // If nothing is placed, why:
  bool broken = false;           // a slice of running pods cannot be made whole
  int best_capacity = 0;         // pods, of the candidate that can hold the most
  std::optional<DomainId> best;  // that one
};

UniformPlacement place_uniform(const Fabric& fabric, const NodeUsages& usages,
                               const UniformRequest& request);

}  // namespace chipweave::solver
