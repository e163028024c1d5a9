#include "common/solver/chips/sets/grown_sets.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace chipweave::solver {
namespace {

constexpr std::size_t kMaxImproved = 8;  // sets that exchange chips, best bound first
constexpr int kMaxExchanges = 16;        // per set

using Sums = std::array<Rate, limits::kMaxChips>;  // by chip: bandwidth into a set

void add_to(Sums& sums, const BandwidthModel& model, ChipSet pool, int chip, int sign) {
  for (const int s : pool) {
    if (s != chip) sums[static_cast<std::size_t>(s)] += sign * model.hop(s, chip);
  }
}

// The member with the most (sign 1) or least (-1) bandwidth; the lowest among equals.
int extreme(const Sums& sums, ChipSet members, int sign) {
  int best = members.lowest();
  for (const int s : members) {
    if (sign * sums[static_cast<std::size_t>(s)] > sign * sums[static_cast<std::size_t>(best)])
      best = s;
  }
  return best;
}

ChipSet greedy(const BandwidthModel& model, const CandidateQuery& q, ChipSet pool, int seed) {
  ChipSet set = q.required | ChipSet{seed};
  Sums sums{};
  for (const int s : set | q.already_held) add_to(sums, model, pool, s, 1);
  while (set.size() < q.size) {
    const int next = extreme(sums, pool - set, 1);
    set.insert(next);
    add_to(sums, model, pool, next, 1);
  }
  return set;
}

ChipSet reverse_greedy(const BandwidthModel& model, const CandidateQuery& q, ChipSet pool) {
  ChipSet set = pool;
  Sums sums{};
  for (const int s : set | q.already_held) add_to(sums, model, pool, s, 1);
  while (set.size() > q.size) {
    const int worst = extreme(sums, set - q.required, -1);
    set.erase(worst);
    add_to(sums, model, pool, worst, -1);
  }
  return set;
}

ChipSet exchange_chips(const BandwidthModel& model, const CandidateQuery& q, ChipSet pool,
                       ChipSet set) {
  Rate bound = model.upper_bound(set | q.already_held);
  for (int exchange = 0; exchange < kMaxExchanges; ++exchange) {
    Sums sums{};
    for (const int s : set | q.already_held) add_to(sums, model, pool, s, 1);
    const ChipSet movable = set - q.required;
    if (movable.empty()) return set;
    const ChipSet base = set - ChipSet{extreme(sums, movable, -1)};
    ChipSet better;
    for (const int s : pool - set) {
      const ChipSet other = base | ChipSet{s};
      const Rate b = model.upper_bound(other | q.already_held);
      if (b > bound) {
        bound = b;
        better = other;
      }
    }
    if (better.empty()) return set;
    set = better;
  }
  return set;
}

// Inside each NUMA node and over all: by lowest index, and from the rule's groups with the fewest
// usable chips first.
void add_packed(const Wiring& wiring, const CandidateQuery& q, ChipSet pool,
                std::vector<ChipSet>& sets) {
  std::array<int, limits::kMaxChips> group_size{};  // by chip: usable chips of its group
  for (const int s : pool) {
    for (const int o : pool)
      group_size[static_cast<std::size_t>(s)] +=
          wiring.rule_group(o) == wiring.rule_group(s) ? 1 : 0;
  }
  const auto add = [&](const std::vector<int>& order) {
    ChipSet set = q.required;
    for (const int s : order) {
      if (set.size() == q.size) break;
      set.insert(s);
    }
    if (set.size() == q.size) sets.push_back(set);
  };
  std::vector<ChipSet> regions = wiring.numa_groups();
  regions.push_back(pool);
  for (const ChipSet region : regions) {
    std::vector<int> order;
    for (const int s : (region & pool) - q.required) order.push_back(s);
    add(order);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return group_size[static_cast<std::size_t>(a)] < group_size[static_cast<std::size_t>(b)];
    });
    add(order);
  }
}

}  // namespace

std::vector<ChipSet> grow_sets(const Wiring& wiring, const BandwidthModel& model,
                               const CandidateQuery& q) {
  const ChipSet pool = q.usable - q.already_held;
  std::vector<ChipSet> sets{reverse_greedy(model, q, pool)};
  if (q.required.size() < q.size) {
    for (const int seed : pool - q.required) sets.push_back(greedy(model, q, pool, seed));
  }
  const auto distinct = [&sets] {
    std::sort(sets.begin(), sets.end(), domain::lower_indices);
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  };
  distinct();
  std::vector<std::pair<Rate, ChipSet>> rated;
  rated.reserve(sets.size());
  for (const ChipSet set : sets) rated.emplace_back(model.upper_bound(set | q.already_held), set);
  std::stable_sort(rated.begin(), rated.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t k = 0; k < std::min(kMaxImproved, rated.size()); ++k)
    sets.push_back(exchange_chips(model, q, pool, rated[k].second));
  add_packed(wiring, q, pool, sets);
  distinct();
  return sets;
}

}  // namespace chipweave::solver
