// SpareNodes — whole free nodes that a plan leaves in every domain of a level that it uses
// (domain::Spare). The fabric does not know how many chips a node has in total, so a node counts as
// whole if it is healthy and has as many free chips as the node with the most.
#pragma once

#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/capacity.hpp"

namespace chipweave::solver {

class SpareNodes {
 public:
  // O(nodes).
  SpareNodes(const Fabric& fabric, domain::Spare spare);

  int level() const { return spare_.level; }
  int wanted() const { return spare_.nodes; }
  bool whole(FabricNodeId node) const;
  // The whole nodes below a domain, depth-first.
  std::vector<FabricNodeId> whole_below(DomainId domain) const;
  // Whether enough whole nodes are left if these nodes are used.
  bool left_by(std::vector<FabricNodeId> used) const;
  // Excludes the nodes to be left in each domain, those of its smallest pools first, so that large
  // pools stay together; all nodes of a domain that has too few. Returns whether that cannot
  // exclude the best plan: each domain is one pool, whose whole nodes are interchangeable.
  bool exclude(NodeUsages& usages) const;

 private:
  const Fabric& fabric_;
  domain::Spare spare_;
  int chips_ = 0;  // chips of a whole node; 0: no node has free chips
};

}  // namespace chipweave::solver
