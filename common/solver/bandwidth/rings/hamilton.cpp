#include "common/solver/bandwidth/rings/hamilton.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "common/solver/bandwidth/flat_map.hpp"

namespace chipweave::solver {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Up to here the programme over subsets costs less than what could spare it.
constexpr int kFewChips = 9;

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

// What each chip charges for either of its two hops. Every cycle then costs 2·Σ more, so the
// cheapest stays the cheapest, but a tree that avoids dear chips and crowds cheap ones no longer
// gets far below it.
struct HamiltonSolver::Toll {
  std::array<double, kMaxRingChips> of{};
  double bound = 0;  // no cycle costs less, by the original costs
};

// Subgradient ascent on the 1-tree bound (Held and Karp 1970): a chip with more than two hops in
// the least tree charges more, one with a single hop less. A 1-tree is a least spanning tree of
// chips 1.. and the two cheapest hops of chip 0; a cycle is one of them.
HamiltonSolver::Toll HamiltonSolver::least_tolls(const CostMatrix& cost, double below) {
  constexpr int kRounds = 60;
  const auto n = static_cast<std::size_t>(n_);
  Toll best;
  best.bound = -kInfinity;
  std::array<double, kMaxRingChips> toll{};
  for (int round = 0; round < kRounds; ++round) {
    steps_ += n * n;
    std::array<int, kMaxRingChips> hops{};
    std::array<double, kMaxRingChips> near{};
    std::array<std::size_t, kMaxRingChips> parent{};
    std::uint32_t out = ((1U << n) - 1) & ~3U;
    double sum = 0;
    for (std::size_t i = 2; i < n; ++i) {
      near[i] = cost[1][i] + toll[1] + toll[i];
      parent[i] = 1;
    }
    while (out != 0) {
      std::size_t next = 0;
      for (std::uint32_t rest = out; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(rest));
        if (next == 0 || near[i] < near[next]) next = i;
      }
      if (near[next] == kInfinity) return {{}, kInfinity};  // chip 0 alone holds them together
      sum += near[next];
      ++hops[next];
      ++hops[parent[next]];
      out &= ~(1U << next);
      for (std::uint32_t rest = out; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(rest));
        const double c = cost[next][i] + toll[next] + toll[i];
        if (c < near[i]) {
          near[i] = c;
          parent[i] = next;
        }
      }
    }
    std::size_t first = 0;
    std::size_t second = 0;
    for (std::size_t i = 1; i < n; ++i) {
      near[i] = cost[0][i] + toll[0] + toll[i];
      if (first == 0 || near[i] < near[first]) {
        second = first;
        first = i;
      } else if (second == 0 || near[i] < near[second]) {
        second = i;
      }
    }
    if (near[second] == kInfinity) return {{}, kInfinity};
    sum += near[first] + near[second];
    hops[0] = 2;
    ++hops[first];
    ++hops[second];
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum -= 2 * toll[i];
      square += (hops[i] - 2) * (hops[i] - 2);
    }
    if (sum > best.bound) best = {toll, sum};
    if (sum >= below || square == 0)
      break;  // no cycle is cheap enough, or this one is the cheapest
    const double step = (below - sum) / square;
    for (std::size_t i = 0; i < n; ++i) toll[i] += step * (hops[i] - 2);
  }
  return best;
}

std::vector<Ring> HamiltonSolver::cheap_cycles(const CostMatrix& cost, double below) {
  if (n_ <= kFewChips) return walk_subsets(cost, below);
  const Toll toll = least_tolls(cost, below);
  if (toll.bound >= below) return {};
  CostMatrix with_tolls = cost;
  double sum = 0;
  for (int i = 0; i < n_; ++i) {
    sum += toll.of[static_cast<std::size_t>(i)];
    for (int j = 0; j < n_; ++j) {
      with_tolls[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] +=
          toll.of[static_cast<std::size_t>(i)] + toll.of[static_cast<std::size_t>(j)];
    }
  }
  std::vector<Ring> rings = walk_subsets(with_tolls, below + 2 * sum);
  // Those that are cheap enough by their rounding only are not.
  std::erase_if(rings, [&](const Ring& ring) { return cycle_cost(ring, cost) >= below; });
  return rings;
}

// paths_(mask, last): the cheapest path from chip 0 over the chips of `mask` that ends in `last`,
// unless no cycle through it can cost less than `below`: half of each hop is charged to either end,
// and no chip is left for less than its two cheapest halves.
std::vector<Ring> HamiltonSolver::walk_subsets(const CostMatrix& cost, double below) {
  const int m = n_ - 1;
  const std::size_t all = (std::size_t{1} << m) - 1;
  std::array<double, kMaxRingChips> half{};  // of the cheapest hop
  std::array<double, kMaxRingChips> both{};  // half of the cheapest, half of the second
  double ahead = 0;                          // of all chips but chip 0
  for (int i = 0; i < n_; ++i) {
    double first = kInfinity;
    double second = kInfinity;
    for (int j = 0; j < n_; ++j) {
      if (i == j) continue;
      const double c = at(cost, i, j);
      second = std::min(second, std::max(first, c));
      first = std::min(first, c);
    }
    if (second == kInfinity) return {};
    half[static_cast<std::size_t>(i)] = first / 2;
    both[static_cast<std::size_t>(i)] = (first + second) / 2;
    if (i > 0) ahead += both[static_cast<std::size_t>(i)];
  }
  constexpr double kRounding = 1e-12;
  const double limit = below + kRounding - half[0] - ahead;
  ends_.assign(all + 1, 0);
  paths_.resize((all + 1) * static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    if (at(cost, 0, i + 1) == kInfinity) continue;
    ends_[std::size_t{1} << i] = 1U << i;
    paths_[cell(std::size_t{1} << i, i)] = at(cost, 0, i + 1);
  }
  steps_ += all / 4;
  std::vector<double> passed(all + 1, 0.0);  // by mask: what its chips no longer have ahead
  for (std::size_t mask = 1; mask < all; ++mask) {
    const auto lowest = static_cast<std::size_t>(std::countr_zero(mask));
    passed[mask] = passed[mask & (mask - 1)] + both[lowest + 1];
    const double most = limit + passed[mask];
    for (std::uint32_t ends = ends_[mask]; ends != 0; ends &= ends - 1) {
      const int last = std::countr_zero(ends);
      const double here = paths_[cell(mask, last)];
      if (here + half[static_cast<std::size_t>(last) + 1] >= most) continue;
      const auto& row = cost[static_cast<std::size_t>(last) + 1];
      for (std::size_t rest = all & ~mask; rest != 0; rest &= rest - 1) {
        const int next = std::countr_zero(rest);
        const double sum = here + row[static_cast<std::size_t>(next) + 1];
        if (sum == kInfinity) continue;
        const std::size_t longer = mask | (rest & (~rest + 1));
        double& there = paths_[cell(longer, next)];
        if ((ends_[longer] >> next & 1U) == 0 || sum < there) there = sum;
        ends_[longer] |= 1U << next;
      }
      steps_ += static_cast<Steps>(m) / 2;
    }
  }
  std::vector<std::pair<double, int>> lasts;
  for (std::uint32_t ends = ends_[all]; ends != 0; ends &= ends - 1) {
    const int last = std::countr_zero(ends);
    const double sum = paths_[cell(all, last)] + at(cost, last + 1, 0);
    if (sum < below) lasts.emplace_back(sum, last);
  }
  std::sort(lasts.begin(), lasts.end());
  std::vector<Ring> out;
  for (const auto& [sum, last] : lasts) {
    Ring ring = walk_back(cost, last);
    // The same cycle the other way round is no other one.
    const bool known = std::any_of(out.begin(), out.end(), [&ring](const Ring& r) {
      return std::equal(r.begin() + 1, r.end(), ring.rbegin());
    });
    if (!known) out.push_back(std::move(ring));
  }
  return out;
}

// The path to `last` over all chips, from chip 0 on.
Ring HamiltonSolver::walk_back(const CostMatrix& cost, int last) const {
  Ring ring;
  std::size_t mask = ends_.size() - 1;
  while (last >= 0) {
    ring.push_back(last + 1);
    const double here = paths_[cell(mask, last)];
    mask &= ~(std::size_t{1} << last);
    int before = -1;
    double closest = kInfinity;
    for (std::uint32_t ends = ends_[mask]; ends != 0; ends &= ends - 1) {
      const int k = std::countr_zero(ends);
      const double gap = std::abs(paths_[cell(mask, k)] + at(cost, k + 1, last + 1) - here);
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

// Always to the nearest chip that is left.
Ring HamiltonSolver::greedy_cycle(const CostMatrix& cost, int start) {
  Ring ring{start};
  std::uint32_t left = ((1U << n_) - 1) & ~(1U << start);
  while (left != 0) {
    int next = -1;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int k = std::countr_zero(rest);
      if (next < 0 || at(cost, ring.back(), k) < at(cost, ring.back(), next)) next = k;
    }
    ring.push_back(next);
    left &= ~(1U << next);
  }
  steps_ += static_cast<Steps>(n_) * static_cast<Steps>(n_);
  return ring;
}

// Cuts the ring in four at places spread as if at random, swaps the inner two stretches and
// improves that, again and again: 2-opt alone cannot undo such a step. Ends at the first cycle that
// costs less than `below`.
double HamiltonSolver::kick(Ring& ring, const CostMatrix& cost, double below) {
  constexpr int kKicks = 200;
  double least = cycle_cost(ring, cost);
  Ring other;
  for (int k = 0; k < kKicks && least >= below; ++k) {
    std::array<std::ptrdiff_t, 3> cuts{};
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const std::uint64_t random = mix(static_cast<std::uint64_t>(k) * cuts.size() + c + 1);
      cuts[c] = 1 + static_cast<std::ptrdiff_t>(random % static_cast<std::uint64_t>(n_ - 1));
    }
    std::sort(cuts.begin(), cuts.end());
    other.assign(ring.begin(), ring.begin() + cuts[0]);
    other.insert(other.end(), ring.begin() + cuts[1], ring.begin() + cuts[2]);
    other.insert(other.end(), ring.begin() + cuts[0], ring.begin() + cuts[1]);
    other.insert(other.end(), ring.begin() + cuts[2], ring.end());
    two_opt(other, cost, steps_);
    const double sum = cycle_cost(other, cost);
    if (sum <= least) {
      least = sum;
      ring.swap(other);
    }
  }
  return least;
}

std::vector<Ring> HamiltonSolver::quick_cycles(const CostMatrix& cost, double below) {
  constexpr double kNoHop = 1e6;  // so that one missing hop is better than two
  CostMatrix finite = cost;
  for (auto& row : finite) {
    for (double& c : row) c = std::min(c, kNoHop);
  }
  std::vector<std::pair<double, Ring>> found;
  for (int start = 0; start < n_; ++start) {
    Ring ring = greedy_cycle(finite, start);
    two_opt(ring, finite, steps_);
    const double sum = cycle_cost(ring, finite);
    found.emplace_back(sum, std::move(ring));
  }
  std::sort(found.begin(), found.end());
  if (n_ > kFewChips && found.front().first >= below) {
    found.resize(1);
    found.front().first = kick(found.front().second, finite, below);
  }
  std::vector<Ring> out;
  for (auto& [sum, ring] : found) {
    if (sum < below && cycle_cost(ring, cost) < below) out.push_back(std::move(ring));
  }
  return out;
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
