// The searches for Hamiltonian cycles against exhaustive enumeration.
#include "common/solver/bandwidth/rings/hamilton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>

namespace chipweave::solver {
namespace {

constexpr double kNoHop = std::numeric_limits<double>::infinity();

// Dense to sparse, with many hops of cost zero, like the prices of links that are not full.
CostMatrix random_costs(int n, std::mt19937& random) {
  const auto density = 3 + random() % 8;  // tenths
  const auto zeros = random() % 10;       // tenths
  CostMatrix cost{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    cost[i][i] = kNoHop;
    for (std::size_t j = 0; j < i; ++j) {
      const bool hop = random() % 10 < density;
      const double price = random() % 10 < zeros ? 0 : static_cast<double>(random() % 1000) / 500;
      cost[i][j] = cost[j][i] = hop ? price : kNoHop;
    }
  }
  return cost;
}

double cheapest(int n, const CostMatrix& cost) {
  Ring ring(static_cast<std::size_t>(n));
  std::iota(ring.begin(), ring.end(), 0);
  double best = kNoHop;
  do {
    if (ring[1] < ring.back()) best = std::min(best, cycle_cost(ring, cost));
  } while (std::next_permutation(ring.begin() + 1, ring.end()));
  return best;
}

// Distinct cycles over all chips below the limit, cheapest first.
void expect_cycles(const std::vector<Ring>& rings, int n, const CostMatrix& cost, double below) {
  std::set<std::set<std::pair<int, int>>> seen;
  for (const Ring& ring : rings) {
    ASSERT_EQ(ring.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(std::set<int>(ring.begin(), ring.end()).size(), ring.size());
    EXPECT_LT(cycle_cost(ring, cost), below);
    EXPECT_LE(cycle_cost(rings.front(), cost), cycle_cost(ring, cost) + 1e-12);
    std::set<std::pair<int, int>> hops;
    for (std::size_t k = 0; k < ring.size(); ++k)
      hops.insert(std::minmax(ring[k], ring[(k + 1) % ring.size()]));
    seen.insert(hops);
  }
}

TEST(HamiltonSolver, FindsTheCheapestCycleExactlyWhenThereIsOne) {
  std::mt19937 random(11);
  for (int round = 0; round < 150; ++round) {
    const int n = 3 + round % 7;
    const CostMatrix cost = random_costs(n, random);
    const double best = cheapest(n, cost);
    HamiltonSolver solver(n);
    for (const double below : {0.5, 2.0, 5.0, 1e9}) {
      const auto rings = solver.cheap_cycles(cost, below);
      ASSERT_EQ(rings.empty(), !(best < below)) << "round " << round << ", below " << below;
      expect_cycles(rings, n, cost, below);
      if (!rings.empty()) {
        EXPECT_NEAR(cycle_cost(rings.front(), cost), best, 1e-9);
      }
      expect_cycles(solver.quick_cycles(cost, below), n, cost, below);
    }
  }
}

// From ten chips on, 1-trees prune the search; ten chips can still be enumerated.
TEST(HamiltonSolver, BoundsOfOneTreesCutNothingThatCounts) {
  std::mt19937 random(12);
  for (int round = 0; round < 12; ++round) {
    const CostMatrix cost = random_costs(10, random);
    const double best = cheapest(10, cost);
    HamiltonSolver solver(10);
    for (const double below : {best / 2, best - 1e-9, best + 1e-9, best + 0.2, 2.0, 1e9}) {
      if (below == kNoHop) continue;
      const auto rings = solver.cheap_cycles(cost, below);
      ASSERT_EQ(rings.empty(), !(best < below)) << "round " << round << ", below " << below;
      expect_cycles(rings, 10, cost, below);
      if (!rings.empty()) {
        EXPECT_NEAR(cycle_cost(rings.front(), cost), best, 1e-9);
      }
      expect_cycles(solver.quick_cycles(cost, below), 10, cost, below);
    }
  }
}

}  // namespace
}  // namespace chipweave::solver
