// SpareNodes — whole free nodes that a plan leaves in every domain of a level that it uses
// (domain::Spare). Nothing says how many chips a node has in all, so a whole one is a healthy node
// that has as many free chips as the most that any node of the fabric has.
#pragma once

#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/room.hpp"

namespace chipweave::solver {

class SpareNodes {
 public:
  // O(nodes).
  SpareNodes(const Fabric& fabric, domain::Spare spare);

  int level() const { return spare_.level; }
  int wanted() const { return spare_.nodes; }
  bool whole(FabricNodeId node) const;
  // Below a domain, in the order of the tree.
  std::vector<FabricNodeId> whole_below(DomainId domain) const;
  // Whether enough are left where these nodes are used.
  bool left_by(std::vector<FabricNodeId> used) const;
  // Closes as many of each domain as are to be left, those of its smallest units first, so that
  // what is left of the large ones stays together; all nodes of a domain that has too few. Whether
  // no plan is lost by it: each domain is one unit, whose whole nodes are alike.
  bool close(Notes& notes) const;

 private:
  const Fabric& fabric_;
  domain::Spare spare_;
  int chips_ = 0;  // of a whole node; 0: none has any
};

}  // namespace chipweave::solver
