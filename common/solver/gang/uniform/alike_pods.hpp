// AlikePods — pods of one kind, placed by themselves: as many as there is room for in one domain of
// a level, then by the policy.
#pragma once

#include <optional>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/uniform/fewest_domains.hpp"

namespace chipweave::solver {

struct AlikeAsk {
  PodKind kind;
  std::vector<DomainId> candidates;  // inside one of these
  domain::GangPolicy policy = domain::GangPolicy::compact;
  int preferred_level = domain::kNoLevel;
  int at_least = 1;
  FoldLimits limits = {};
};

struct AlikePods {
  int placed = 0;  // 0: fewer than at_least have room
  std::vector<Share> shares;
  bool exact = true;
  // Why not.
  bool broken = false;           // a slice of running pods cannot be made whole
  int most = 0;                  // the most that a candidate can hold
  std::optional<DomainId> best;  // that one
};

AlikePods place_alike(const Fabric& fabric, const Notes& notes, const AlikeAsk& ask);

// All domains of a level inside a domain, itself included; kNoLevel: itself.
std::vector<DomainId> domains_of_level(const Fabric& fabric, DomainId inside, int level);

// Nodes below a domain in the order of the tree.
template <class Visit>
void each_node_below(const Fabric& fabric, DomainId domain, const Visit& visit) {
  for (const FabricNodeId node : fabric.nodes(domain)) visit(node);
  for (const DomainId child : fabric.children(domain)) each_node_below(fabric, child, visit);
}

}  // namespace chipweave::solver
