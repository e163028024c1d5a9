// EvenShares — spreads pods evenly instead of packing them: over the fewest domains of the
// preferred level (none: nodes) that hold them, in shares that differ by at most one slice where
// capacity allows. If one domain is enough, evenly over its children. Ties: the fewest domains
// above, then the tightest.
//
// Cost: O(domains of that level), and FewestDomains over them for the choice.
#pragma once

#include <vector>

#include "common/solver/gang/uniform/fewest_domains.hpp"

namespace chipweave::solver {

class EvenShares {
 public:
  // level: kNoLevel for nodes. If a coarser level has slices, that level is used instead
  // (lifted()).
  EvenShares(const Fabric& fabric, const Capacity& capacity, const PodKind& kind,
             FewestDomains& compact, int level);

  // In one of the candidates; each must be able to hold exactly `pods`.
  std::vector<Share> place(const std::vector<DomainId>& candidates, int pods);
  // Slices of a coarser level must stay whole, so that level's shares are even, and the result is
  // not proven to be optimal.
  bool lifted() const { return lifted_; }

 private:
  // A domain of the level, or a node.
  struct Part {
    bool is_node = false;
    std::uint32_t id = 0;
    Units units = 0;
    int base = 0;
    int step = 1;
    std::uint64_t free = 0;
    DomainId in = kRootDomain;  // the pool of a node
  };
  struct Choice {
    std::vector<Part> parts;    // those used
    std::vector<Units> shares;  // of each
    std::size_t used = 0;       // domains of the level, or nodes
    Units width = 0;            // one domain: largest difference of shares inside, at least 1
    std::vector<Units>
        ascending;  // several: the shares sorted; the lexicographically larger is more even
    FewestDomains::Candidate cost;  // of the domains above
    std::uint64_t free = 0;
    bool better(const Choice& other) const;
  };

  void nodes_of(DomainId pool, std::vector<Part>& out) const;
  void parts_of(DomainId domain, std::vector<Part>& out) const;
  std::vector<Part> inside(const Part& part) const;
  Part part(DomainId domain) const;
  Choice best_of(DomainId candidate, int pods);
  Choice over_children(const std::vector<Part>& able, int pods);
  Choice among_many(std::vector<Part> parts, Units all, std::size_t fewest);
  std::vector<std::size_t> closest(const std::vector<Part>& parts,
                                   const std::vector<std::size_t>& able, std::size_t count) const;
  void finish(const Choice& choice, std::vector<Share>& out);

  const Fabric& fabric_;
  const Capacity& capacity_;
  FewestDomains& compact_;
  int level_;
  bool lifted_ = false;
};

// `all` spread over places with these capacities as evenly as possible; earlier places get the
// remainder. What does not fit is dropped.
std::vector<Units> level_shares(const std::vector<Units>& most, Units all);

}  // namespace chipweave::solver
