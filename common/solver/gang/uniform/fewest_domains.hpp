// FewestDomains — where a number of equal pods goes so that it uses the fewest domains of the
// coarsest level, of those ways the one with the fewest of the next level, and so on down to nodes,
// and then the tightest: the least free chips in the used domains, coarsest level first; then the
// first in natural order.
//
// Exact (up to what CostLayout can hold, exact()). Counts first: for a domain the staircase "so
// many pods cost at least that many domains" follows from those of its children by (min, +), with
// counts packed into one number. A set of children that can hold more holds less as well, so only
// the steps of a staircase matter. Then, among the ways that reach the fewest and nothing else, the
// tightest (ChildFold). Where one child is enough, children are looked at in the order of what they
// cost at least, until that is more than what was found.
// Cost: for each domain in question, its children x the pods that may come to it x the steps of one
// child (ways of as few nodes); what the largest other children hold limits the last two.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/uniform/cost_layout.hpp"
#include "common/solver/gang/uniform/room.hpp"
#include "common/solver/gang/uniform/unit_costs.hpp"

namespace chipweave::solver {

// Up to where all ways of the fewest counts are kept, to find the tightest of them (ChildFold).
struct FoldLimits {
  std::size_t cells = 4U << 20U;  // children x amounts of one domain
  std::size_t work = 64U << 20U;  // steps of all children x amounts
};

class FewestDomains {
 public:
  // pods: how many are placed at most.
  FewestDomains(const Fabric& fabric, const Room& room, int pods, FoldLimits limits = {});

  // A domain that could take them all, and what the domains above it cost.
  struct Candidate {
    DomainId domain = kRootDomain;
    Counts counts = 0;
    Tight tight = 0;
  };
  Candidate candidate(DomainId domain) const;
  // The best of them for exactly so many pods, a number that Room allows in each.
  DomainId choose(const std::vector<Candidate>& candidates, int pods);
  // Nodes in natural order of their paths.
  std::vector<Share> place(DomainId domain, int pods);

  bool exact() const { return layout_.whole(); }

 private:
  friend class ChildFold;

  Amount amount(DomainId domain, int pods) const {
    return (pods - room_.base(domain)) / room_.step(domain);
  }
  Counts own_counts(DomainId domain) const;
  Tight own_tight(DomainId domain) const;
  // The children, if one of them is to hold so much of the domain; empty: more are needed, or some
  // are paid already.
  std::vector<Candidate> single_children(DomainId domain, Amount amount) const;
  // No way to place so much in the domain is cheaper than that. Its children are counted.
  Counts bound(DomainId domain, int pods) const;

  Counts counts_of(DomainId domain, Amount amount);
  CountStairs count_stairs(DomainId domain, Amount least, Amount most);
  TightStairs tight_stairs(DomainId domain, Amount least, Amount most);
  Tight tight_of(DomainId domain, Amount amount);
  void descend(DomainId domain, Amount amount, std::vector<Share>& out);

  const Fabric& fabric_;
  const Room& room_;
  CostLayout layout_;
  UnitCosts units_;
  FoldLimits limits_;
};

}  // namespace chipweave::solver
