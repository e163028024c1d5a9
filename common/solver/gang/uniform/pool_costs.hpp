// PoolCosts — the end of the recursion of FewestDomains: which nodes of a pool an units goes to,
// so that they are the fewest and, of those ways, have the least free chips. Nodes that are
// already_used already cost nothing and are filled first.
#pragma once

#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/capacity.hpp"
#include "common/solver/gang/uniform/cost_layout.hpp"

namespace chipweave::solver {

// Units up to `units` cost at least that.
struct CountStep {
  Units units = 0;
  Counts counts = 0;
};
struct TightStep {
  Units units = 0;
  Counts counts = 0;
  Tight tight = 0;
};
// Ascending in units and cost; the first one covers the units 0.
using CountSteps = std::vector<CountStep>;
using TightSteps = std::vector<TightStep>;

using Share = std::pair<FabricNodeId, int>;  // so many pods on that node

class PoolCosts {
 public:
  PoolCosts(const Fabric& fabric, const Capacity& capacity, const CostLayout& layout)
      : fabric_(fabric), capacity_(capacity), layout_(layout) {}

  // Units are inner ones of the pool, least <= most <= what it can take. Steps below `least` are
  // left out, but for that of the units 0. O(kinds + nodes used).
  CountSteps counts(DomainId pool, Units least, Units most) const;
  // With the least free chips among the ways of as few nodes. O(kinds x nodes used x the units
  // that the last node has to spare), bounded: beyond it the tightest ways may be missed.
  TightSteps tight(DomainId pool, Units least, Units most) const;
  void place(DomainId pool, Units units, std::vector<Share>& out) const;

 private:
  // Nodes that are not already_used, alike in what they take and have free.
  struct Group {
    Units units = 0;
    std::uint64_t free = 0;
    int count = 0;
  };
  struct Groups {
    std::vector<Group> list;  // largest units first
    Units already_used = 0;   // what the already_used nodes take
  };
  class Tightest;

  Groups groups(DomainId pool) const;
  Counts node_counts(DomainId pool) const;
  Tight node_tight(DomainId pool, std::uint64_t free) const;
  std::vector<Tight> tight_of(DomainId pool, const Groups& groups) const;

  const Fabric& fabric_;
  const Capacity& capacity_;
  const CostLayout& layout_;
};

}  // namespace chipweave::solver
