// Tours — the order in which to visit a few items so that neighbours in the order are close: chips
// along a ring, chip sets of pods along the ranks.
//
// Pure combinatorics over a table of hop widths. Among equally good orders the lexicographically
// lowest is taken, so the same table always gives the same order.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

// The bandwidth between two items, the same in both directions.
struct Hop {
  Rate fast = 0;  // over direct links or switches; 0: none
  Rate any = 0;   // over the widest path, routed or over the host where there is nothing faster
  friend bool operator==(const Hop&, const Hop&) = default;
};

class HopTable {
 public:
  explicit HopTable(int n)
      : n_(n), hops_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {}

  int size() const { return n_; }
  const Hop& of(int i, int j) const { return hops_[at(i, j)]; }
  void set(int i, int j, Hop hop) { hops_[at(i, j)] = hops_[at(j, i)] = hop; }
  // All hops are equal: every order is as good as any other.
  bool uniform() const;

 private:
  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j);
  }
  int n_;
  std::vector<Hop> hops_;
};

inline constexpr int kMaxExactChain = 8;

// The value of a chain of hops; higher is better, compared in this order.
struct ChainValue {
  Rate fast_sum = 0;
  Rate fast_least = 0;  // 0 for a single item
  Rate any_sum = 0;
  Rate closing = 0;  // the fast hop from the last to the first
  friend auto operator<=>(const ChainValue&, const ChainValue&) = default;
};
ChainValue chain_value(const HopTable& hops, const std::vector<int>& order);

// All items in the order of the best ChainValue; the k-th one is of kind kind_at[k] (kind_at is a
// permutation of kind). Exact up to kMaxExactChain items, by a dynamic programme over subsets;
// above, nearest neighbour from every start, improved by reversals and swaps.
std::vector<int> best_chain(const HopTable& hops, const std::vector<int>& kind,
                            const std::vector<int>& kind_at);

// Roughly how many hops best_chain evaluates for n items.
std::uint64_t chain_work(int n);

// All items as a ring, starting at item 0, with the widest narrowest hop (`any`), then the largest
// sum of hops. Exact up to kMaxRingChips (ring_graph.hpp): O(2^n n²) time, some 8 MB and 30 ms at
// worst for 16; immediate where all hops are equal; above, as best_chain.
std::vector<int> best_ring(const HopTable& hops);

}  // namespace chipweave::solver
