#include "common/solver/hamilton.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace chipweave::solver {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double at(const CostMatrix& cost, int i, int j) {
  return cost[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
}

// Reverses stretches of the ring as long as that makes it cheaper.
void two_opt(Ring& ring, const CostMatrix& cost, Steps& steps) {
  const int n = static_cast<int>(ring.size());
  const auto node = [&ring, n](int k) { return ring[static_cast<std::size_t>(k % n)]; };
  bool better = true;
  while (better) {
    better = false;
    steps += static_cast<Steps>(n) * static_cast<Steps>(n);
    for (int a = 0; a < n - 1; ++a) {
      for (int b = a + 2; b < n; ++b) {
        if (a == 0 && b == n - 1) continue;
        const double now = at(cost, node(a), node(a + 1)) + at(cost, node(b), node(b + 1));
        const double then = at(cost, node(a), node(b)) + at(cost, node(a + 1), node(b + 1));
        if (then < now - 1e-12) {
          std::reverse(ring.begin() + a + 1, ring.begin() + b + 1);
          better = true;
        }
      }
    }
  }
}

}  // namespace

double cycle_cost(const Ring& ring, const CostMatrix& cost) {
  double sum = 0;
  for (std::size_t k = 0; k < ring.size(); ++k)
    sum += at(cost, ring[k], ring[(k + 1) % ring.size()]);
  return sum;
}

// f(mask, last): cheapest path from chip 0 over the chips of `mask` (chips 1.., bit i-1) that ends
// in `last`.
std::optional<Ring> HamiltonSolver::cheapest_cycle(const CostMatrix& cost) {
  const int m = n_ - 1;
  const std::size_t masks = std::size_t{1} << m;
  const auto cell = [m](std::size_t mask, int last) {
    return mask * static_cast<std::size_t>(m) + static_cast<std::size_t>(last);
  };
  table_.assign(masks * static_cast<std::size_t>(m), kInfinity);
  steps_ += masks * static_cast<std::size_t>(m) * static_cast<std::size_t>(m) / 4;
  for (int i = 0; i < m; ++i) table_[cell(std::size_t{1} << i, i)] = at(cost, 0, i + 1);
  for (std::size_t mask = 1; mask < masks; ++mask) {
    for (std::size_t ends = mask; ends != 0; ends &= ends - 1) {
      const int last = std::countr_zero(ends);
      const double here = table_[cell(mask, last)];
      if (here == kInfinity) continue;
      for (std::size_t rest = (masks - 1) & ~mask; rest != 0; rest &= rest - 1) {
        const int next = std::countr_zero(rest);
        double& there = table_[cell(mask | std::size_t{1} << next, next)];
        there = std::min(there, here + at(cost, last + 1, next + 1));
      }
    }
  }
  int last = -1;
  double best = kInfinity;
  for (int i = 0; i < m; ++i) {
    const double sum = table_[cell(masks - 1, i)] + at(cost, i + 1, 0);
    if (sum < best) {
      best = sum;
      last = i;
    }
  }
  if (last < 0) return std::nullopt;
  Ring ring;
  std::size_t mask = masks - 1;
  while (last >= 0) {
    ring.push_back(last + 1);
    const double here = table_[cell(mask, last)];
    mask &= ~(std::size_t{1} << last);
    int before = -1;
    double closest = kInfinity;
    for (std::size_t ends = mask; ends != 0; ends &= ends - 1) {
      const int k = std::countr_zero(ends);
      const double gap = std::abs(table_[cell(mask, k)] + at(cost, k + 1, last + 1) - here);
      if (gap < closest) {
        closest = gap;
        before = k;
      }
    }
    last = before;
  }
  ring.push_back(0);
  std::reverse(ring.begin(), ring.end());
  return ring;
}

std::optional<Ring> HamiltonSolver::quick_cycle(const CostMatrix& cost) {
  std::optional<Ring> best;
  double best_cost = kInfinity;
  for (int start = 0; start < n_; ++start) {
    Ring ring{start};
    steps_ += static_cast<Steps>(n_) * static_cast<Steps>(n_);
    std::uint32_t left = ((1U << n_) - 1) & ~(1U << start);
    while (left != 0) {
      int next = -1;
      for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
        const int k = std::countr_zero(rest);
        if (next < 0 || at(cost, ring.back(), k) < at(cost, ring.back(), next)) next = k;
      }
      if (at(cost, ring.back(), next) == kInfinity) break;
      ring.push_back(next);
      left &= ~(1U << next);
    }
    if (left != 0 || at(cost, ring.back(), start) == kInfinity) continue;
    two_opt(ring, cost, steps_);
    const double c = cycle_cost(ring, cost);
    if (c < best_cost) {
      best_cost = c;
      best = std::move(ring);
    }
  }
  return best;
}

bool has_hamiltonian_cycle(int n, const std::array<std::uint32_t, kMaxRingChips>& adjacent) {
  const std::uint32_t all = (1U << n) - 1;
  bool complete = true;
  std::uint32_t reached = 1;
  for (int i = 0; i < n; ++i) {
    const std::uint32_t others = adjacent[static_cast<std::size_t>(i)] & all & ~(1U << i);
    if (std::popcount(others) < 2) return false;
    complete = complete && others == (all & ~(1U << i));
  }
  if (complete) return true;
  for (std::uint32_t frontier = 1; frontier != 0;) {
    std::uint32_t next = 0;
    for (; frontier != 0; frontier &= frontier - 1)
      next |= adjacent[static_cast<std::size_t>(std::countr_zero(frontier))];
    frontier = next & all & ~reached;
    reached |= frontier;
  }
  if (reached != all) return false;
  // ends[mask]: chips in which a path from chip 0 over exactly `mask` (bit i-1 = chip i) can end,
  // same bits.
  const std::size_t masks = std::size_t{1} << (n - 1);
  std::vector<std::uint32_t> ends(masks, 0);
  for (int i = 1; i < n; ++i) {
    if ((adjacent[0] >> i & 1U) != 0) ends[std::size_t{1} << (i - 1)] = 1U << (i - 1);
  }
  for (std::size_t mask = 1; mask < masks; ++mask) {
    for (std::uint32_t e = ends[mask]; e != 0; e &= e - 1) {
      const int last = std::countr_zero(e) + 1;
      std::size_t onward = (adjacent[static_cast<std::size_t>(last)] >> 1) & (masks - 1) & ~mask;
      for (; onward != 0; onward &= onward - 1) {
        const std::size_t bit = onward & (~onward + 1);
        ends[mask | bit] |= static_cast<std::uint32_t>(bit);
      }
    }
  }
  return (ends[masks - 1] & (adjacent[0] >> 1)) != 0;
}

}  // namespace chipweave::solver
