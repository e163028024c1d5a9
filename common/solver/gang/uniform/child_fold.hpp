// ChildFold — one question of a domain that needs several of its children: which of them, and how
// much of each. Made for one domain and thrown away.
//
// Forward, child after child: the least counts with which the first i children hold at least p
// (rows). Backward from the amounts that are asked for: which (i, p) lie on a way of the fewest
// counts. Forward again over these alone: the tightest. Above FoldLimits the
// last two are left out, and steps that others can stand in for: then the counts are still the
// fewest, but which of those ways it is, is left to order.
#pragma once

#include <cstdint>
#include <vector>

#include "common/solver/gang/uniform/fewest_domains.hpp"

namespace chipweave::solver {

class ChildFold {
 public:
  enum class For {
    counts,  // counts() is all that will be asked
    shares
  };
  // Amounts of the domain, least <= most.
  ChildFold(FewestDomains& solver, DomainId domain, Amount least, Amount most, For what);

  // Fewest counts of what is inside the domain, the domain itself not included.
  Counts counts(Amount amount) const;
  // The tightest of those ways; find_tightest() comes first.
  Tight tight(Amount amount) const;
  void find_tightest();
  // How much comes to each child, if so much comes to the domain.
  std::vector<std::pair<DomainId, Amount>> shares(Amount amount) const;

 private:
  struct Child {
    DomainId domain = kNowhere;
    CountStairs steps;
    TightStairs tight;
    Amount from = 0;  // of what may come to it on a way of the fewest
    Amount to = 0;
  };

  enum class How {
    counts,    // rows of the last children only
    tightest,  // all ways of the fewest counts
    traced,    // one of them, read from the rows
    chosen     // one of them, noted on the way: too many rows to keep
  };

  Amount inside(Amount amount) const;
  void find_children(Amount least, Amount most);
  void find_windows();
  void drop_dominated();
  void count();
  void count_row(std::size_t child, const Counts* from, Counts* to);
  std::vector<std::size_t> most_held(bool backward) const;
  void mark();
  void mark_row(std::size_t child);
  void tighten_row(std::size_t child);
  std::size_t cell(std::size_t child, Amount inside) const {
    return child * width_ + static_cast<std::size_t>(inside);
  }
  std::size_t cells() const;
  How choose_how() const;
  bool rows_kept() const { return how_ == How::tightest || how_ == How::traced; }
  Amount taken(std::size_t child, Amount inside) const;

  FewestDomains& solver_;
  DomainId domain_;
  Amount least_;  // of the domain
  Amount most_;
  For what_;
  How how_ = How::counts;
  std::size_t width_ = 0;   // inner amounts, 0 included
  std::size_t fewest_ = 0;  // children that hold the most asked for; 0: some are paid
  std::vector<Child> children_;
  // What the first i children have to hold of an answer: from the least that the others leave to
  // the most that they can.
  struct Window {
    std::size_t low = 0;
    std::size_t high = 0;
  };
  std::vector<Window> windows_;
  std::vector<Counts> rows_;         // by child, then inner amount; only two if they are not kept
  std::vector<std::uint8_t> seen_;   // likewise
  std::vector<Tight> tight_;         // likewise
  std::vector<std::int32_t> taken_;  // likewise: the step of the child; -1: nothing above its base
};

}  // namespace chipweave::solver
