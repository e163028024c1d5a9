// ExactSets — pods of several kinds with rules of their own (roles, subgroups, chosen nodes, spare
// nodes), placed best of all ways: a dynamic programme over the fabric whose state is how many pods
// of each kind are in a domain. For small questions: the states are the product of the kinds'
// numbers, so it gives up beyond a number of counted steps.
//
// Best: most pods; then, if shares are to be even, sets on the fewest domains of their preferred
// levels and in shares there whose squares sum up to the least (no more even shares have a smaller
// sum), and where one such domain is enough the same over what it consists of; then the fewest
// domains of each level, coarsest first, and nodes; then groups with a preferred level on the
// fewest domains down to it; then each group on the fewest; then the least free chips.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/solver/gang/mixed/pod_groups.hpp"

namespace chipweave::solver {

// Nodes of a fabric that is worth a longer search: there people see at once what is missed.
inline constexpr std::size_t kSmallFabric = 64;

// Pods of a kind on a node.
struct KindShare {
  FabricNodeId node = kNowhere;
  std::size_t kind = 0;
  int pods = 0;
};

struct SetsAnswer {
  bool fits = false;
  std::vector<KindShare> shares;  // in the order of the tree
  std::string reason;             // why it does not fit
};

// spare: no way that leaves less is looked at. Nothing: the question is too large.
std::optional<SetsAnswer> place_sets_exactly(const Fabric& fabric, const domain::Gang& gang,
                                             const PodGroups& groups,
                                             const std::optional<domain::Spare>& spare);

}  // namespace chipweave::solver
