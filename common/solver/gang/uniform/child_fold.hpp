// ChildFold — distributes pods over the children of one domain: which children, and how many units
// each. Made for one domain and thrown away.
//
// A dynamic programme over the children. Forward: rows of the fewest counts with which the first i
// children hold at least p units. Backward: the cells (i, p) that lie on an optimal path. Forward
// again over these: the tightest of those paths. Above FoldLimits the last two passes are skipped
// and dominated steps are dropped: the counts are still the fewest, but ties are broken by order.
#pragma once

#include <cstdint>
#include <vector>

#include "common/solver/gang/uniform/fewest_domains.hpp"

namespace chipweave::solver {

class ChildFold {
 public:
  enum class For {
    counts,  // only counts() will be called
    shares
  };
  // Units of the domain, least <= most.
  ChildFold(FewestDomains& solver, DomainId domain, Units least, Units most, For what);

  // Fewest counts inside the domain, without the domain itself.
  Counts counts(Units units) const;
  // The tightest placement with those counts. Precondition: find_tightest().
  Tight tight(Units units) const;
  void find_tightest();
  // The units of each child for so many units of the domain.
  std::vector<std::pair<DomainId, Units>> shares(Units units) const;

 private:
  struct Child {
    DomainId domain = kNowhere;
    CountSteps steps;
    TightSteps tight;
    Units from = 0;  // range of its units on optimal paths
    Units to = 0;
  };

  // Inner units, both ends included.
  struct Window {
    std::size_t low = 0;
    std::size_t high = 0;
  };

  enum class How {
    counts,    // keeps the last two rows only
    tightest,  // all optimal paths
    traced,    // one of them, traced back through the rows
    chosen     // one of them, recorded on the way: too many rows to keep
  };

  Units inside(Units units) const;
  void find_children(Units least, Units most);
  void find_windows();
  void drop_dominated();
  void count();
  void count_row(std::size_t child, const Counts* from, Counts* to);
  std::vector<std::size_t> most_held(bool backward) const;
  void mark();
  // marked: where the marked cells of the child's row are. The same of the row before it; empty
  // (low above high) if none is marked there.
  Window mark_row(std::size_t child, Window marked);
  void tighten_row(std::size_t child);
  std::size_t cell(std::size_t child, Units inside) const {
    return child * width_ + static_cast<std::size_t>(inside);
  }
  std::size_t cells() const;
  How choose_how() const;
  bool rows_kept() const { return how_ == How::tightest || how_ == How::traced; }
  Units taken(std::size_t child, Units inside) const;

  FewestDomains& solver_;
  DomainId domain_;
  Units least_;  // of the domain
  Units most_;
  For what_;
  How how_ = How::counts;
  std::size_t width_ = 0;   // inner units, 0 included
  std::size_t fewest_ = 0;  // children that the largest request needs; 0: some are already used
  std::vector<Child> children_;
  // Units that the first i children of an answer hold: from what the others cannot hold to what
  // they can.
  std::vector<Window> windows_;
  std::vector<Counts> rows_;        // by child, then inner units; two rows only unless rows_kept()
  std::vector<std::uint8_t> seen_;  // likewise
  std::vector<std::size_t> run_end_;  // of mark_row
  std::vector<std::int32_t> marks_;   // of mark_row: starts minus ends of runs; 0 between calls
  std::vector<Tight> tight_;          // likewise
  std::vector<std::int32_t> taken_;   // likewise: the step of the child; -1: nothing above its base
};

}  // namespace chipweave::solver
