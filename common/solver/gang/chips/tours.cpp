#include "common/solver/gang/chips/tours.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "common/solver/bandwidth/rings/hamilton.hpp"
#include "common/solver/bandwidth/rings/ring_graph.hpp"
#include "common/solver/bandwidth/rings/tour_search.hpp"

namespace chipweave::solver {
namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

constexpr int kAnyFirst = -1;

// A dynamic programme over (visited items, last item): the best value of visiting the rest. The
// algebra must be monotone: what comes before never makes the better of two completions the worse
// one (sums and minimums are, alone or a sum before a minimum). Kinds restrict what may come where.
//
// Algebra: Value with ==, <; none(), which no other value is below; end(last);
// before(from, to, rest).
template <class Algebra>
class Completions {
 public:
  using Value = typename Algebra::Value;

  // root: only of orders that start with it; kAnyFirst: of all.
  Completions(const Algebra& algebra, const std::vector<int>& kind, const std::vector<int>& kind_at,
              int root)
      : algebra_(algebra), kind_(kind), kind_at_(kind_at), n_(static_cast<int>(kind.size())) {
    const std::size_t held = root == kAnyFirst ? 0 : std::size_t{1} << root;
    const std::size_t full = (std::size_t{1} << kind.size()) - 1;
    best_.assign((full + 1) * kind.size(), algebra.none());
    for (std::size_t visited = full; visited > 0; --visited) {
      if ((visited & held) != held) continue;
      for (int last = 0; last < n_; ++last) {
        if ((visited >> last & 1U) != 0) best_[cell(visited, last)] = complete(visited, last, full);
      }
    }
  }

  // Of all that start with `first`; none() where kinds or hops forbid it.
  Value from(int first) const {
    if (kind_[idx(first)] != kind_at_[0]) return algebra_.none();
    return best_[cell(std::size_t{1} << first, first)];
  }
  // The best order that starts with `first`, lowest numbers first.
  std::vector<int> order(int first) const {
    std::vector<int> out{first};
    std::size_t visited = std::size_t{1} << first;
    while (static_cast<int>(out.size()) < n_) {
      const int last = out.back();
      for (int to = 0; to < n_; ++to) {
        if (!may_follow(visited, to)) continue;
        const Value rest = best_[cell(visited | std::size_t{1} << to, to)];
        if (rest == algebra_.none() ||
            !(algebra_.before(last, to, rest) == best_[cell(visited, last)]))
          continue;
        out.push_back(to);
        visited |= std::size_t{1} << to;
        break;
      }
    }
    return out;
  }

 private:
  std::size_t cell(std::size_t visited, int last) const {
    return visited * kind_.size() + idx(last);
  }
  bool may_follow(std::size_t visited, int to) const {
    return (visited >> to & 1U) == 0 &&
           kind_[idx(to)] == kind_at_[static_cast<std::size_t>(std::popcount(visited))];
  }
  Value complete(std::size_t visited, int last, std::size_t full) const {
    if (visited == full) return algebra_.end(last);
    Value best = algebra_.none();
    for (int to = 0; to < n_; ++to) {
      if (!may_follow(visited, to)) continue;
      const Value rest = best_[cell(visited | std::size_t{1} << to, to)];
      if (rest == algebra_.none()) continue;
      best = std::max(best, algebra_.before(last, to, rest));
    }
    return best;
  }

  const Algebra& algebra_;
  const std::vector<int>& kind_;
  const std::vector<int>& kind_at_;
  int n_;
  std::vector<Value> best_;
};

// The sum of the fast hops, then the least of them.
struct SumThenLeast {
  using Value = std::pair<Rate, Rate>;
  const HopTable& hops;
  static Value none() { return {-1, 0}; }
  static Value end(int) { return {0, std::numeric_limits<Rate>::max()}; }
  Value before(int from, int to, const Value& rest) const {
    const Rate fast = hops.of(from, to).fast;
    return {rest.first + fast, std::min(rest.second, fast)};
  }
};

// Sums of the fast hops, of all hops, and the hop that closes the ring, where no fast hop is below
// `least`.
struct SumsAndClosing {
  using Value = std::array<Rate, 3>;
  const HopTable& hops;
  Rate least = 0;
  int first = 0;
  static Value none() { return {-1, -1, -1}; }
  Value end(int last) const { return {0, 0, last == first ? 0 : hops.of(last, first).fast}; }
  Value before(int from, int to, const Value& rest) const {
    const Hop& hop = hops.of(from, to);
    if (hop.fast < least) return none();
    return {rest[0] + hop.fast, rest[1] + hop.any, rest[2]};
  }
};

// The sum around a ring of hops that are at least `least`.
struct RingSum {
  using Value = Rate;
  const HopTable& hops;
  Rate least = 0;
  static Value none() { return -1; }
  Value end(int last) const {
    const Rate any = hops.of(last, 0).any;
    return any < least ? none() : any;
  }
  Value before(int from, int to, Value rest) const {
    const Rate any = hops.of(from, to).any;
    return any < least ? none() : rest + any;
  }
};

// Two steps: the least hop of the best sum first, then the later criteria with no hop below it. In
// one step a later criterion could be lost, because two values with different least hops become
// equal when a narrower hop comes before them.
std::vector<int> exact_chain(const HopTable& hops, const std::vector<int>& kind,
                             const std::vector<int>& kind_at) {
  const SumThenLeast sums{hops};
  const Completions<SumThenLeast> first_step(sums, kind, kind_at, kAnyFirst);
  SumThenLeast::Value best = SumThenLeast::none();
  for (int first = 0; first < hops.size(); ++first) best = std::max(best, first_step.from(first));
  SumsAndClosing::Value won = SumsAndClosing::none();
  std::vector<int> order;
  for (int first = 0; first < hops.size(); ++first) {
    if (first_step.from(first) != best) continue;
    const SumsAndClosing later{hops, best.second, first};
    const Completions<SumsAndClosing> second_step(later, kind, kind_at, first);
    if (!(won < second_step.from(first))) continue;
    won = second_step.from(first);
    order = second_step.order(first);
  }
  return order;
}

// Improves an order by reversing a stretch or swapping two items; those before `fixed` stay. At
// most as many rounds as there are items.
template <class Score>
void polish(std::vector<int>& order, std::size_t fixed, const std::vector<int>& kind,
            const std::vector<int>& kind_at, const Score& score) {
  auto best = score(order);
  const auto keep_if_better = [&](const std::vector<int>& changed) {
    for (std::size_t k = 0; k < changed.size(); ++k) {
      if (kind[idx(changed[k])] != kind_at[k]) return false;
    }
    const auto value = score(changed);
    if (!(best < value)) return false;
    best = value;
    return true;
  };
  bool better = true;
  for (std::size_t round = 0; better && round < order.size(); ++round) {
    better = false;
    for (std::size_t i = fixed; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        std::vector<int> changed = order;
        std::reverse(changed.begin() + static_cast<std::ptrdiff_t>(i),
                     changed.begin() + static_cast<std::ptrdiff_t>(j) + 1);
        if (!keep_if_better(changed)) {
          changed = order;
          std::swap(changed[i], changed[j]);
          if (!keep_if_better(changed)) continue;
        }
        order = std::move(changed);
        better = true;
      }
    }
  }
}

// Starts at `first` and always continues to the closest item that may come next.
std::vector<int> nearest(const HopTable& hops, int first, const std::vector<int>& kind,
                         const std::vector<int>& kind_at) {
  return nearest_neighbour(
      hops.size(), first,
      [&](int to, std::size_t position) { return kind[idx(to)] == kind_at[position]; },
      [&hops](int from, int a, int b) {
        const Hop& x = hops.of(from, a);
        const Hop& y = hops.of(from, b);
        return std::pair(x.fast, x.any) > std::pair(y.fast, y.any);
      });
}

// The best of nearest() from every start.
template <class Score>
std::vector<int> best_nearest(const HopTable& hops, const std::vector<int>& kind,
                              const std::vector<int>& kind_at, const Score& score) {
  std::vector<int> best;
  for (int first = 0; first < hops.size(); ++first) {
    if (kind[idx(first)] != kind_at[0]) continue;
    std::vector<int> order = nearest(hops, first, kind, kind_at);
    if (best.empty() || score(best) < score(order)) best = std::move(order);
  }
  return best;
}

std::vector<int> rough_chain(const HopTable& hops, const std::vector<int>& kind,
                             const std::vector<int>& kind_at) {
  const auto score = [&hops](const std::vector<int>& order) { return chain_value(hops, order); };
  std::vector<int> best = best_nearest(hops, kind, kind_at, score);
  polish(best, 0, kind, kind_at, score);
  return best;
}

// The narrowest hop of a ring and the sum of its hops.
std::pair<Rate, Rate> ring_value(const HopTable& hops, const std::vector<int>& order) {
  std::pair<Rate, Rate> value{std::numeric_limits<Rate>::max(), 0};
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Rate any = hops.of(order[k], order[(k + 1) % order.size()]).any;
    value.first = std::min(value.first, any);
    value.second += any;
  }
  return value;
}

std::vector<int> rough_ring(const HopTable& hops) {
  const std::vector<int> one_kind(idx(hops.size()), 0);
  const auto score = [&hops](const std::vector<int>& order) { return ring_value(hops, order); };
  std::vector<int> best = best_nearest(hops, one_kind, one_kind, score);
  std::rotate(best.begin(), std::find(best.begin(), best.end(), 0), best.end());
  polish(best, 1, one_kind, one_kind, score);
  if (best.back() < best[1]) std::reverse(best.begin() + 1, best.end());
  return best;
}

// The largest hop width at which the pairs that reach it hold a ring of all things.
Rate widest_ring(const HopTable& hops) {
  const int n = hops.size();
  std::vector<Rate> levels;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) levels.push_back(hops.of(i, j).any);
  }
  std::sort(levels.begin(), levels.end(), std::greater<>());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  const auto no_ring = [&hops, n](Rate level) {
    std::array<std::uint32_t, kMaxRingChips> adjacent{};
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (i != j && hops.of(i, j).any >= level) adjacent[idx(i)] |= std::uint32_t{1} << j;
      }
    }
    return !has_hamiltonian_cycle(n, adjacent);
  };
  // At the last level every pair counts, which always holds a ring.
  return *std::partition_point(levels.begin(), levels.end() - 1, no_ring);
}

std::vector<int> ascending(int n) {
  std::vector<int> out(idx(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

bool HopTable::uniform() const {
  for (int i = 0; i < n_; ++i) {
    for (int j = i + 1; j < n_; ++j) {
      if (!(of(i, j) == of(0, 1))) return false;
    }
  }
  return true;
}

std::uint64_t chain_work(int n) {
  const std::uint64_t things = static_cast<std::uint64_t>(n);
  constexpr std::uint64_t kRounds = 8;  // of polish(), with their copies; few take more
  return n <= kMaxExactChain ? (things * things * (things + 1)) << things
                             : kRounds * things * things * things;
}

ChainValue chain_value(const HopTable& hops, const std::vector<int>& order) {
  ChainValue value;
  if (order.size() < 2) return value;
  value.fast_least = std::numeric_limits<Rate>::max();
  for (std::size_t k = 1; k < order.size(); ++k) {
    const Hop& hop = hops.of(order[k - 1], order[k]);
    value.fast_sum += hop.fast;
    value.fast_least = std::min(value.fast_least, hop.fast);
    value.any_sum += hop.any;
  }
  value.closing = hops.of(order.back(), order.front()).fast;
  return value;
}

std::vector<int> best_chain(const HopTable& hops, const std::vector<int>& kind,
                            const std::vector<int>& kind_at) {
  if (hops.size() == 0) return {};
  if (!hops.uniform()) {
    return hops.size() <= kMaxExactChain ? exact_chain(hops, kind, kind_at)
                                         : rough_chain(hops, kind, kind_at);
  }
  std::vector<int> order;
  std::vector<bool> taken(kind.size(), false);
  for (const int wanted : kind_at) {
    for (std::size_t i = 0; i < kind.size(); ++i) {
      if (taken[i] || kind[i] != wanted) continue;
      taken[i] = true;
      order.push_back(static_cast<int>(i));
      break;
    }
  }
  return order;
}

std::vector<int> best_ring(const HopTable& hops) {
  const int n = hops.size();
  if (n <= 3 || hops.uniform()) return ascending(n);
  if (n > kMaxRingChips) return rough_ring(hops);
  const RingSum sum{hops, widest_ring(hops)};
  const std::vector<int> one_kind(idx(n), 0);
  return Completions<RingSum>(sum, one_kind, one_kind, 0).order(0);
}

}  // namespace chipweave::solver
