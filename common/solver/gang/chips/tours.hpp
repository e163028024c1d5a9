// Tours — in which order to visit a few things so that neighbours in the order are close: chips
// along a ring, chip sets of pods along the ranks.
//
// Pure combinatorics over a table of hop widths. Among equally good orders the one whose numbers
// are lowest, read from the front, is taken: the same table always gives the same order.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

// What joins two of the things, in 1e-6 GB/s (Rate), the same both ways.
struct Hop {
  Rate fast = 0;  // over direct links or switches; 0: they have none in common
  Rate any = 0;   // over the widest way there is, routed or over the host where nothing else is
  friend bool operator==(const Hop&, const Hop&) = default;
};

class HopTable {
 public:
  explicit HopTable(int n)
      : n_(n), hops_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {}

  int size() const { return n_; }
  const Hop& of(int i, int j) const { return hops_[at(i, j)]; }
  void set(int i, int j, Hop hop) { hops_[at(i, j)] = hops_[at(j, i)] = hop; }
  // All pairs alike: then every order is as good as any other.
  bool uniform() const;

 private:
  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j);
  }
  int n_;
  std::vector<Hop> hops_;
};

inline constexpr int kMaxExactChain = 8;

// What a chain of hops is judged by, more is better, in this order.
struct ChainValue {
  Rate fast_sum = 0;
  Rate fast_least = 0;  // 0 for one thing
  Rate any_sum = 0;
  Rate closing = 0;  // the fast hop from the last to the first
  friend auto operator<=>(const ChainValue&, const ChainValue&) = default;
};
ChainValue chain_value(const HopTable& hops, const std::vector<int>& order);

// All things in the order of the best ChainValue; the k-th one is of kind kind_at[k] (kinds are a
// reordering of each other). Exact up to kMaxExactChain things, by a programme over subsets; above,
// nearest neighbours from every start, improved by reversals and swaps.
std::vector<int> best_chain(const HopTable& hops, const std::vector<int>& kind,
                            const std::vector<int>& kind_at);

// About how many hops best_chain looks at for n things.
std::uint64_t chain_work(int n);

// All things as a ring from 0 on that has the widest narrowest hop (`any`), then the largest sum of
// hops. Exact up to kMaxRingChips (ring_graph.hpp): O(2^n n²) time, some 8 MB and 30 ms at worst
// for 16, at once where the table is uniform; above, as best_chain.
std::vector<int> best_ring(const HopTable& hops);

}  // namespace chipweave::solver
