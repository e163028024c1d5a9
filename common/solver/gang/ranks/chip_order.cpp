#include "common/solver/gang/ranks/chip_order.hpp"

#include <algorithm>
#include <compare>
#include <numeric>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/gang/chips/node_chips.hpp"
#include "common/solver/ranks/communicators.hpp"

namespace chipweave::solver {
namespace {

constexpr Steps kSwapSteps = 4'000'000;

// The time that a GB takes, in integers, so that equal orders have equal costs in any order of
// summation. 0.1 GB/s and less count alike: weights of a million and 64 chips cannot overflow.
std::int64_t time_of(Rate rate) { return 1'000'000'000'000 / std::max<Rate>(rate, 100'000); }

struct GroupCost {
  std::int64_t slowest = 0;  // sum over groups
  std::int64_t pairs = 0;
  friend auto operator<=>(const GroupCost&, const GroupCost&) = default;
};

GroupCost cost_of(const HopTable& hops, const std::vector<RankGroup>& groups,
                  const std::vector<int>& order) {
  GroupCost out;
  for (const RankGroup& group : groups) {
    std::int64_t slowest = 0;
    for (const auto& pair : group.pairs) {
      const std::int64_t time = time_of(hops.of(order[static_cast<std::size_t>(pair.first)],
                                                order[static_cast<std::size_t>(pair.second)])
                                            .any);
      slowest = std::max(slowest, time);
      out.pairs += group.weight * time;
    }
    out.slowest += group.weight * slowest;
  }
  return out;
}

std::vector<int> exact_order(const HopTable& hops, const std::vector<RankGroup>& groups) {
  std::vector<int> order(static_cast<std::size_t>(hops.size()));
  std::iota(order.begin(), order.end(), 0);
  std::vector<int> best = order;
  GroupCost least = cost_of(hops, groups, order);
  while (std::next_permutation(order.begin(), order.end())) {
    const GroupCost cost = cost_of(hops, groups, order);
    if (cost < least) {
      least = cost;
      best = order;
    }
  }
  return best;
}

// Exchanges two items while that helps.
GroupCost descend(const HopTable& hops, const std::vector<RankGroup>& groups,
                  std::vector<int>& order, Steps& left) {
  Steps each = 1;
  for (const RankGroup& group : groups) each += group.pairs.size();
  GroupCost least = cost_of(hops, groups, order);
  for (bool helped = true; helped;) {
    helped = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        if (left < each) return least;
        left -= each;
        std::swap(order[i], order[j]);
        const GroupCost cost = cost_of(hops, groups, order);
        if (cost < least) {
          least = cost;
          helped = true;
        } else {
          std::swap(order[i], order[j]);
        }
      }
    }
  }
  return least;
}

}  // namespace

std::vector<int> best_group_order(const HopTable& hops, const std::vector<RankGroup>& groups) {
  std::vector<int> ascending(static_cast<std::size_t>(hops.size()));
  std::iota(ascending.begin(), ascending.end(), 0);
  if (groups.empty() || hops.size() < 3 || hops.uniform()) return ascending;
  if (hops.size() <= kMaxExactChipOrder) return exact_order(hops, groups);
  Steps left = kSwapSteps;
  std::vector<int> ring = best_ring(hops);
  const GroupCost of_ascending = descend(hops, groups, ascending, left);
  const GroupCost of_ring = descend(hops, groups, ring, left);
  return of_ring < of_ascending ? ring : ascending;
}

std::vector<RankGroup> ChipOrder::groups_of(std::int64_t first_rank, int ranks) const {
  std::vector<RankGroup> out;
  for (const domain::Communicator& it : communicators_) {
    if (it.size == 1 || it.weight == 0) continue;
    const std::int64_t block = it.size * it.stride;
    // By the group's lowest rank.
    std::map<std::int64_t, RankGroup> groups;
    for (int local = 0; local < ranks; ++local) {
      const std::int64_t rank = first_rank + local;
      const std::int64_t member = rank % block / it.stride;
      each_link(it, member, [&](std::int64_t other) {
        const std::int64_t at = local + (other - member) * it.stride;
        if (at < 0 || at >= ranks || at == local) return;
        RankGroup& group = groups[rank - member * it.stride];
        group.weight = it.weight;
        group.pairs.emplace_back(std::min<int>(local, static_cast<int>(at)),
                                 std::max<int>(local, static_cast<int>(at)));
      });
    }
    for (auto& [lowest, group] : groups) out.push_back(std::move(group));
  }
  return out;
}

const std::vector<int>& ChipOrder::of(const domain::NodeTopology& topology, ChipSet chips,
                                      std::int64_t first_rank) {
  std::vector<RankGroup> groups = groups_of(first_rank, chips.size());
  const auto [at, fresh] = known_.try_emplace(Key{&topology, chips.bits(), std::move(groups)});
  if (!fresh) return at->second;
  std::vector<int> slots;
  for (const int slot : chips) slots.push_back(slot);
  for (const int k : best_group_order(chip_hops(topology, chips), std::get<2>(at->first)))
    at->second.push_back(slots[static_cast<std::size_t>(k)]);
  return at->second;
}

}  // namespace chipweave::solver
