// ExactSets — the best placement of pods of several kinds with rules of their own (roles,
// subgroups, chosen nodes, spare nodes): a dynamic programme over the fabric whose state is the
// number of pods of each kind in a domain. The number of states is the product of the kinds'
// numbers of pods, so it is for small requests only and gives up after a counted number of steps.
//
// Best means, in this order: the most pods; for an even policy, sets on the fewest domains of their
// preferred levels, in shares whose sum of squares is least (a smaller sum is more even), and where
// one domain is enough the same over its children; the fewest domains of each level, coarsest
// first, and nodes; groups with a preferred level on the fewest domains down to it; each group on
// the fewest domains; the fewest free chips.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/solver/gang/mixed/pod_groups.hpp"

namespace chipweave::solver {

// Fabrics of up to so many nodes get a longer search: there a missed placement is obvious to
// people.
inline constexpr std::size_t kSmallFabric = 64;

// The most states that are searched: the product of the kinds' numbers of pods + 1.
inline constexpr std::size_t kMaxSetStates = 20'000;

// Pods of a kind on a node.
struct KindShare {
  FabricNodeId node = kNowhere;
  std::size_t kind = 0;
  int pods = 0;
};

struct SetsPlacement {
  bool fits = false;
  std::vector<KindShare> shares;  // depth-first
  std::string reason;             // why it does not fit
};

// spare: placements that leave fewer nodes are not considered. nullopt: the request is too large.
std::optional<SetsPlacement> place_sets_exactly(const Fabric& fabric, const domain::Gang& gang,
                                                const PodGroups& groups,
                                                const std::optional<domain::Spare>& spare);

}  // namespace chipweave::solver
