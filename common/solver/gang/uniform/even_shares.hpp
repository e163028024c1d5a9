// EvenShares — pods spread evenly instead of packed: the fewest domains of the preferred level (no
// level: nodes) that hold them, shares that differ by at most one slice where capacity allows; if
// one domain is enough, evenly over what it consists of. Among equal choices the one with the
// fewest domains above, then the tightest.
//
// Cost: O(domains of that level) to find them, and FewestDomains over them for the choice.
#pragma once

#include <vector>

#include "common/solver/gang/uniform/fewest_domains.hpp"

namespace chipweave::solver {

class EvenShares {
 public:
  // level: kNoLevel for nodes; one that has slices above it gives way to that level (lifted()).
  EvenShares(const Fabric& fabric, const Room& room, const PodKind& kind, FewestDomains& compact,
             int level);

  // In one of the domains, each of which Room allows to hold exactly so many.
  std::vector<Share> place(const std::vector<DomainId>& candidates, int pods);
  // Slices of a level above must stay whole there, so it is that level's shares that are even, and
  // nothing is proven.
  bool lifted() const { return lifted_; }

 private:
  // A domain of the level, or a node.
  struct Part {
    bool is_node = false;
    std::uint32_t id = 0;
    Amount amount = 0;
    int base = 0;
    int step = 1;
    std::uint64_t free = 0;
    DomainId in = kRootDomain;  // the unit of a node
  };
  struct Choice {
    std::vector<Part> parts;        // those used
    std::vector<Amount> shares;     // of each
    std::size_t used = 0;           // domains of the level, or nodes
    Amount width = 0;               // one domain: how far the shares inside it differ, at least 1
    std::vector<Amount> ascending;  // several: shares in order, the larger list is more even
    FewestDomains::Candidate cost;  // of the domains above
    std::uint64_t free = 0;
    bool better(const Choice& other) const;
  };

  void parts_of(DomainId domain, std::vector<Part>& out) const;
  std::vector<Part> inside(const Part& part) const;
  Part part(DomainId domain) const;
  Choice best_of(DomainId candidate, int pods);
  Choice over_children(const std::vector<Part>& able, int pods);
  Choice among_many(std::vector<Part> parts, Amount all, std::size_t fewest);
  std::vector<std::size_t> closest(const std::vector<Part>& parts,
                                   const std::vector<std::size_t>& able, std::size_t count) const;
  void finish(const Choice& choice, std::vector<Share>& out);

  const Fabric& fabric_;
  const Room& room_;
  FewestDomains& compact_;
  int level_;
  bool lifted_ = false;
};

// `all` over places that take so much each, as evenly as can be; earlier places get what is left
// over. What does not fit is left out.
std::vector<Amount> level_shares(const std::vector<Amount>& most, Amount all);

}  // namespace chipweave::solver
