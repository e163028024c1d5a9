// FewestDomains — places a number of equal pods on the fewest domains of the coarsest level, then
// of the next level, and so on down to nodes; then where it is tightest, that is with the fewest
// free chips in the used domains, coarsest level first; then first in natural order.
//
// Exact, as far as CostLayout can hold the costs (exact()). For each domain the step function "so
// many pods cost at least so many domains" is the (min, +) convolution of its children's, with
// counts packed into one integer. A set of children that can hold more can also hold less, so only
// the steps matter. Among the placements with the fewest counts ChildFold finds the tightest. Where
// one child is enough, children are tried in the order of their lower bound until it exceeds the
// best.
//
// Cost, for each domain considered: its children x the pods that may go to it x the steps of one
// child; bounded by what the largest other children hold.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/capacity.hpp"
#include "common/solver/gang/uniform/cost_layout.hpp"
#include "common/solver/gang/uniform/pool_costs.hpp"

namespace chipweave::solver {

// Limits for keeping all optimal paths, which finding the tightest needs (ChildFold).
struct FoldLimits {
  std::size_t cells = 4U << 20U;  // children x units of one domain
  std::size_t work = 64U << 20U;  // steps of all children x units
};

class FewestDomains {
 public:
  // pods: the most that will be placed.
  FewestDomains(const Fabric& fabric, const Capacity& capacity, int pods, FoldLimits limits = {});

  // A domain that can take them all, and the cost of the domains above it.
  struct Candidate {
    DomainId domain = kRootDomain;
    Counts counts = 0;
    Tight tight = 0;
  };
  Candidate candidate(DomainId domain) const;
  // The best candidate for exactly `pods`, which each of them must be able to hold.
  DomainId choose(const std::vector<Candidate>& candidates, int pods);
  // Nodes in natural order of their paths.
  std::vector<Share> place(DomainId domain, int pods);

  bool exact() const { return layout_.whole(); }

 private:
  friend class ChildFold;

  Units units(DomainId domain, int pods) const {
    return (pods - capacity_.base(domain)) / capacity_.step(domain);
  }
  Counts own_counts(DomainId domain) const;
  Tight own_tight(DomainId domain) const;
  // The children that can hold so many units alone; empty: several are needed, or the domain is
  // already used.
  std::vector<Candidate> single_children(DomainId domain, Units units) const;
  // Lower bound of the counts of so many pods in the domain. O(children).
  Counts bound(DomainId domain, int pods) const;

  Counts counts_of(DomainId domain, Units units);
  CountSteps count_steps(DomainId domain, Units least, Units most);
  TightSteps tight_steps(DomainId domain, Units least, Units most);
  Tight tight_of(DomainId domain, Units units);
  void descend(DomainId domain, Units units, std::vector<Share>& out);

  const Fabric& fabric_;
  const Capacity& capacity_;
  CostLayout layout_;
  PoolCosts pool_costs_;
  FoldLimits limits_;
};

}  // namespace chipweave::solver
