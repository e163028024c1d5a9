// UnitCosts — the end of the recursion of FewestDomains: which nodes of a unit an amount goes to,
// so that they are the fewest and, of those ways, have the least free chips. Nodes that are paid
// already cost nothing and are filled first.
#pragma once

#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/cost_layout.hpp"
#include "common/solver/gang/uniform/room.hpp"

namespace chipweave::solver {

// Amounts up to `amount` cost at least that.
struct CountStep {
  Amount amount = 0;
  Counts counts = 0;
};
struct TightStep {
  Amount amount = 0;
  Counts counts = 0;
  Tight tight = 0;
};
// Ascending in amount and cost; the first one covers the amount 0.
using CountStairs = std::vector<CountStep>;
using TightStairs = std::vector<TightStep>;

using Share = std::pair<FabricNodeId, int>;  // so many pods on that node

class UnitCosts {
 public:
  UnitCosts(const Fabric& fabric, const Room& room, const CostLayout& layout)
      : fabric_(fabric), room_(room), layout_(layout) {}

  // Amounts are inner ones of the unit, least <= most <= what it can take. Steps below `least` are
  // left out, but for that of the amount 0. O(kinds + nodes used).
  CountStairs counts(DomainId unit, Amount least, Amount most) const;
  // With the least free chips among the ways of as few nodes. O(kinds x nodes used x the amount
  // that the last node has to spare), bounded: beyond it the tightest ways may be missed.
  TightStairs tight(DomainId unit, Amount least, Amount most) const;
  void place(DomainId unit, Amount amount, std::vector<Share>& out) const;

 private:
  // Nodes that are not paid, alike in what they take and have free.
  struct Group {
    Amount amount = 0;
    std::uint64_t free = 0;
    int count = 0;
  };
  struct Groups {
    std::vector<Group> list;  // largest amount first
    Amount paid = 0;          // what the paid nodes take
  };
  class Tightest;

  Groups groups(DomainId unit) const;
  Counts node_counts(DomainId unit) const;
  Tight node_tight(DomainId unit, std::uint64_t free) const;
  std::vector<Tight> tight_of(DomainId unit, const Groups& groups) const;

  const Fabric& fabric_;
  const Room& room_;
  const CostLayout& layout_;
};

}  // namespace chipweave::solver
