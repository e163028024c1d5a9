// FewestDomains — where a number of equal pods goes so that it uses the fewest domains of the
// coarsest level, of those ways the one with the fewest of the next level, and so on down to nodes,
// and then the tightest: the least free chips in the used domains, coarsest level first.
//
// Exact: for a domain it makes the staircase "so many pods cost at least this much", from those of
// its children by (min, +), with costs that compare like lists (PackedCost). A set of children that
// can hold more holds less as well, so only the steps of a staircase matter. Cost: for each domain
// its children times the pods that may be in question there, children times the steps of each; what
// cannot be part of an answer is left out by counting how much the largest remaining siblings could
// still hold.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/packed_cost.hpp"
#include "common/solver/gang/room.hpp"

namespace chipweave::solver {

using Share = std::pair<FabricNodeId, int>;  // so many pods on that node

class FewestDomains {
 public:
  FewestDomains(const Fabric& fabric, const Room& room, int pods);

  // What it costs to place exactly so many pods in the domain, existing pods' domains for nothing;
  // its own cost included. pods: one of the numbers that Room allows there.
  PackedCost cost(DomainId domain, int pods);
  // No way is cheaper than that, cost of the domain itself included. Cheap: its children are
  // counted.
  PackedCost bound(DomainId domain, int pods) const;
  // And how: nodes in natural order of their paths.
  std::vector<Share> place(DomainId domain, int pods);
  const CostLayout& layout() const { return layout_; }
  // Whether no count had to be left out.
  bool exact() const { return layout_.whole(); }

 private:
  struct Step {
    int pods = 0;  // at most so many
    PackedCost cost;
  };
  using Staircase = std::vector<Step>;  // ascending in both
  struct Item {
    DomainId domain = kNowhere;
    Staircase steps;
  };
  // What one question of a domain is about.
  struct Items {
    std::vector<Item> list;
    bool counted = true;  // each one used costs one of `field`; else existing pods pay for some
    std::size_t field = 0;
    std::size_t fewest = 0;  // of them hold the most that is asked for
    int least = 0;           // no number of pods below it is of interest
  };
  struct Fold;

  // The one child that the pods should go to, if one is enough.
  std::pair<DomainId, PackedCost> best_child(const Domain& domain, int pods);
  Staircase staircase(DomainId domain, int least, int most);
  Staircase of_leaf(const Domain& domain, int most);
  // The children that can take pods, each with the steps that an answer for least..most can have.
  Items items(const Domain& domain, int least, int most);
  static std::vector<int> shares_of(const Fold& fold, const Items& items, int pods);
  PackedCost own(DomainId domain) const;
  void descend(DomainId domain, int pods, std::vector<Share>& out);
  void share_among_nodes(const Domain& domain, int pods, std::vector<Share>& out);
  bool is_leaf(const Domain& domain) const {
    return domain.level + 1 == static_cast<int>(fabric_.levels());
  }

  const Fabric& fabric_;
  const Room& room_;
  CostLayout layout_;
  bool count_nodes_;  // else their number follows from that of the pods
};

}  // namespace chipweave::solver
