#include "common/solver/bandwidth/rings/hamilton.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "common/solver/bandwidth/connected.hpp"
#include "common/solver/bandwidth/flat_map.hpp"

namespace chipweave::solver {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Up to here the programme over subsets costs less than what could spare it.
constexpr int kFewChips = 9;

double at(const CostMatrix& cost, int i, int j) {
  return cost[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
}

}  // namespace

double cycle_cost(const Ring& ring, const CostMatrix& cost) {
  double sum = 0;
  for (std::size_t k = 0; k < ring.size(); ++k)
    sum += at(cost, ring[k], ring[(k + 1) % ring.size()]);
  return sum;
}

// A penalty that every chip adds to each of its two hops. It raises all cycles by the same 2·Σ, so
// the cheapest stays the cheapest, but a 1-tree that avoids dear chips and crowds cheap ones is no
// longer far below it.
struct HamiltonSolver::Penalties {
  std::array<double, kMaxRingChips> of{};
  double bound = 0;  // no cycle costs less, by the original costs
};

// The least 1-tree: a least spanning tree of chips 1.. and the two cheapest hops of chip 0. Every
// cycle is a 1-tree. cost: infinity where there is none.
struct HamiltonSolver::OneTree {
  double cost = kInfinity;
  std::array<int, kMaxRingChips> degree{};
};

HamiltonSolver::OneTree HamiltonSolver::least_one_tree(
    const CostMatrix& cost, const std::array<double, kMaxRingChips>& penalty) {
  const auto n = static_cast<std::size_t>(n_);
  steps_ += n * n;
  OneTree tree;
  double sum = 0;
  std::array<double, kMaxRingChips> near{};
  std::array<std::size_t, kMaxRingChips> parent{};
  for (std::size_t i = 2; i < n; ++i) {
    near[i] = cost[1][i] + penalty[1] + penalty[i];
    parent[i] = 1;
  }
  for (std::uint32_t out = ((1U << n) - 1) & ~3U; out != 0;) {
    std::size_t next = 0;
    for (std::uint32_t rest = out; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      if (next == 0 || near[i] < near[next]) next = i;
    }
    if (near[next] == kInfinity) return {};  // only chip 0 connects the others
    sum += near[next];
    ++tree.degree[next];
    ++tree.degree[parent[next]];
    out &= ~(1U << next);
    for (std::uint32_t rest = out; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      const double c = cost[next][i] + penalty[next] + penalty[i];
      if (c < near[i]) {
        near[i] = c;
        parent[i] = next;
      }
    }
  }
  std::size_t first = 0;
  std::size_t second = 0;
  for (std::size_t i = 1; i < n; ++i) {
    near[i] = cost[0][i] + penalty[0] + penalty[i];
    if (first == 0 || near[i] < near[first]) {
      second = first;
      first = i;
    } else if (second == 0 || near[i] < near[second]) {
      second = i;
    }
  }
  if (near[second] == kInfinity) return {};
  tree.cost = sum + (near[first] + near[second]);
  tree.degree[0] = 2;
  ++tree.degree[first];
  ++tree.degree[second];
  return tree;
}

// Subgradient ascent on the 1-tree bound (Held and Karp 1970): chips with more than two hops in the
// least 1-tree get a larger penalty, chips with a single hop a smaller one.
HamiltonSolver::Penalties HamiltonSolver::best_penalties(const CostMatrix& cost, double below) {
  constexpr int kRounds = 60;
  const auto n = static_cast<std::size_t>(n_);
  Penalties best;
  best.bound = -kInfinity;
  std::array<double, kMaxRingChips> penalty{};
  for (int round = 0; round < kRounds; ++round) {
    const OneTree tree = least_one_tree(cost, penalty);
    if (tree.cost == kInfinity) return {{}, kInfinity};
    double sum = tree.cost;
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum -= 2 * penalty[i];
      square += (tree.degree[i] - 2) * (tree.degree[i] - 2);
    }
    if (sum > best.bound) best = {penalty, sum};
    if (sum >= below || square == 0)
      break;  // no cycle is cheap enough, or this 1-tree is the cheapest cycle
    const double step = (below - sum) / square;
    for (std::size_t i = 0; i < n; ++i) penalty[i] += step * (tree.degree[i] - 2);
  }
  return best;
}

std::vector<Ring> HamiltonSolver::cheap_cycles(const CostMatrix& cost, double below) {
  if (n_ <= kFewChips) return search_subsets(cost, below);
  const Penalties penalties = best_penalties(cost, below);
  if (penalties.bound >= below) return {};
  CostMatrix penalised = cost;
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) {
    sum += penalties.of[i];
    for (std::size_t j = 0; j < static_cast<std::size_t>(n_); ++j)
      penalised[i][j] += penalties.of[i] + penalties.of[j];
  }
  std::vector<Ring> rings = search_subsets(penalised, below + 2 * sum);
  // Some may be cheap enough by rounding only.
  std::erase_if(rings, [&](const Ring& ring) { return cycle_cost(ring, cost) >= below; });
  return rings;
}

// paths_(mask, last): the cheapest path from chip 0 over the chips of `mask` that ends in `last`.
// Paths are pruned if no cycle through them can cost less than `below`: with half of each hop
// charged to either end, every chip still ahead costs at least the halves of its two cheapest hops.
std::vector<Ring> HamiltonSolver::search_subsets(const CostMatrix& cost, double below) {
  const int m = n_ - 1;
  const std::size_t all = (std::size_t{1} << m) - 1;
  std::array<double, kMaxRingChips> half{};  // of the cheapest hop
  std::array<double, kMaxRingChips> both{};  // half of the cheapest, half of the second
  double ahead = 0;                          // sum of both[] over all chips except chip 0
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
  std::vector<double> passed(all + 1,
                             0.0);  // by mask: the part of `ahead` that its chips have passed
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
  return close_paths(cost, below);
}

// The cycles from the paths over all chips, cheapest first.
std::vector<Ring> HamiltonSolver::close_paths(const CostMatrix& cost, double below) const {
  const std::size_t all = ends_.size() - 1;
  std::vector<std::pair<double, int>> lasts;
  for (std::uint32_t ends = ends_[all]; ends != 0; ends &= ends - 1) {
    const int last = std::countr_zero(ends);
    const double sum = paths_[cell(all, last)] + at(cost, last + 1, 0);
    if (sum < below) lasts.emplace_back(sum, last);
  }
  std::sort(lasts.begin(), lasts.end());
  std::vector<Ring> out;
  for (const auto& [sum, last] : lasts) {
    Ring ring = path_back_from(cost, last);
    // A cycle and its reverse are the same.
    const bool known = std::any_of(out.begin(), out.end(), [&ring](const Ring& r) {
      return std::equal(r.begin() + 1, r.end(), ring.rbegin());
    });
    if (!known) out.push_back(std::move(ring));
  }
  return out;
}

// The path to `last` over all chips, from chip 0 on.
Ring HamiltonSolver::path_back_from(const CostMatrix& cost, int last) const {
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

Ring HamiltonSolver::greedy_cycle(const CostMatrix& cost, int start) {
  steps_ += static_cast<Steps>(n_) * static_cast<Steps>(n_);
  return nearest_neighbour(
      n_, start, [](int, std::size_t) { return true; },
      [&cost](int from, int a, int b) { return at(cost, from, a) < at(cost, from, b); });
}

void HamiltonSolver::improve(Ring& ring, const CostMatrix& cost) {
  constexpr double kRounding = 1e-12;
  const std::uint64_t passes = two_opt(
      ring, std::numeric_limits<std::uint64_t>::max(),
      [&cost](int a, int b) { return at(cost, a, b); },
      [](double then, double now) { return then < now - kRounding; });
  steps_ += passes * static_cast<Steps>(n_) * static_cast<Steps>(n_);
}

// Perturbation by double bridges: cuts the ring in four at pseudo-random places, exchanges the
// inner two stretches, which 2-opt cannot undo, and improves the result. Ends at the first cycle
// that costs less than `below`.
double HamiltonSolver::perturb(Ring& ring, const CostMatrix& cost, double below) {
  constexpr int kPerturbations = 200;
  double least = cycle_cost(ring, cost);
  Ring other;
  for (int k = 0; k < kPerturbations && least >= below; ++k) {
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
    improve(other, cost);
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
    improve(ring, finite);
    const double sum = cycle_cost(ring, finite);
    found.emplace_back(sum, std::move(ring));
  }
  std::sort(found.begin(), found.end());
  if (n_ > kFewChips && found.front().first >= below) {
    found.resize(1);
    found.front().first = perturb(found.front().second, finite, below);
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
  for (int i = 0; i < n; ++i) {
    const std::uint32_t others = adjacent[static_cast<std::size_t>(i)] & all & ~(1U << i);
    if (std::popcount(others) < 2) return false;
    complete = complete && others == (all & ~(1U << i));
  }
  if (complete) return true;
  if (!connected(all, [&adjacent](int i) { return adjacent[static_cast<std::size_t>(i)]; }))
    return false;
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
