// PoolCosts — the base case of FewestDomains: which nodes of a pool take a number of units, so that
// the nodes are the fewest and, of those choices, have the fewest free chips. Already used nodes
// cost nothing and are filled first.
#pragma once

#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/capacity.hpp"
#include "common/solver/gang/uniform/cost_layout.hpp"

namespace chipweave::solver {

// One step of a step function: up to `units` cost this much.
struct CountStep {
  Units units = 0;
  Counts counts = 0;
};
struct TightStep {
  Units units = 0;
  Counts counts = 0;
  Tight tight = 0;
};
// Ascending in units and cost; the first step is that of 0 units.
using CountSteps = std::vector<CountStep>;
using TightSteps = std::vector<TightStep>;

using Share = std::pair<FabricNodeId, int>;  // a node and its pods

class PoolCosts {
 public:
  PoolCosts(const Fabric& fabric, const Capacity& capacity, const CostLayout& layout)
      : fabric_(fabric), capacity_(capacity), layout_(layout) {}

  // In inner units of the pool, least <= most <= its capacity. Steps below `least` are left out,
  // except that of 0 units. O(kinds + nodes used).
  CountSteps counts(DomainId pool, Units least, Units most) const;
  // The same with the fewest free chips. O(kinds x nodes used x spare units of the last node),
  // bounded: beyond the bound the tightest choice may be missed.
  TightSteps tight(DomainId pool, Units least, Units most) const;
  void place(DomainId pool, Units units, std::vector<Share>& out) const;

 private:
  // Interchangeable nodes that are not already used.
  struct Group {
    Units units = 0;
    std::uint64_t free = 0;
    int count = 0;
  };
  struct Groups {
    std::vector<Group> list;  // most units first
    Units already_used = 0;   // units of the nodes that are already used
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
