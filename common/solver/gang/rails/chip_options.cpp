#include "common/solver/gang/rails/chip_options.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "common/solver/gang/chips/node_chips.hpp"

namespace chipweave::solver {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Each once, by the first node that has it.
std::vector<const domain::NodeTopology*> topologies(const NodeMachines& machines) {
  std::unordered_set<const domain::NodeTopology*> seen;
  std::vector<const domain::NodeTopology*> out;
  for (const auto& [node, machine] : machines) {
    const domain::NodeTopology* topology = machine.topology.get();
    if (!out.empty() && out.back() == topology) continue;  // neighbours are mostly alike
    if (seen.insert(topology).second) out.push_back(topology);
  }
  return out;
}

std::uint64_t sets_of_size(int n, int k) {
  std::uint64_t out = 1;
  for (int i = 1; i <= std::min(k, n - k) && out <= kMaxListedSets; ++i)
    out = out * static_cast<std::uint64_t>(n - i + 1) / static_cast<std::uint64_t>(i);
  return out;
}

// Visits the subsets of `from` with k members, in ascending order of their members.
template <class Visit>
void each_subset(ChipSet from, int k, const Visit& visit) {
  std::vector<int> slots;
  for (const int slot : from) slots.push_back(slot);
  const int n = static_cast<int>(slots.size());
  if (k < 1 || k > n) return;
  std::vector<int> at(static_cast<std::size_t>(k));
  std::iota(at.begin(), at.end(), 0);
  while (true) {
    ChipSet set;
    for (const int i : at) set.insert(slots[static_cast<std::size_t>(i)]);
    if (!visit(set)) return;
    int last = k - 1;
    while (last >= 0 && at[static_cast<std::size_t>(last)] == n - k + last) --last;
    if (last < 0) return;
    ++at[static_cast<std::size_t>(last)];
    for (int i = last + 1; i < k; ++i)
      at[static_cast<std::size_t>(i)] = at[static_cast<std::size_t>(i) - 1] + 1;
  }
}

int chips_in(const std::vector<int>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 0);
}

}  // namespace

ChipOptions::ChipOptions(const NodeMachines& machines, bool distributed)
    : distributed_(distributed), numbers_(topologies(machines)) {}

const NodeAdapters& ChipOptions::adapters(const NodeMachine& node) {
  const AdaptersKey key{node.topology.get(), node.down_nics, node.loaded.bits()};
  if (const auto known = adapters_.find(key); known != adapters_.end()) return known->second;
  return adapters_
      .emplace(key, NodeAdapters(*node.topology,
                                 {numbers_.of(*node.topology), node.down_nics, node.loaded}))
      .first->second;
}

RateVector ChipOptions::rates_of(const NodeMachine& node, ChipSet chips) {
  RateVector out;
  out.chips = chips.size() < 2 ? kUnlimited : node.machine->gbps(chips);
  const NodeAdapters& reached = adapters(node);
  double nothing = kUnlimited;
  if (reached.known()) nothing = 0;
  out.rails.assign(static_cast<std::size_t>(rails()), nothing);
  for (const Rail& rail : reached.of(chips).rails)
    out.rails[static_cast<std::size_t>(rail.index)] = rail.gbps;
  return out;
}

bool ChipOptions::listable(const NodeMachine& node, int chips) const {
  return sets_of_size(node.free.size(), chips) <= kMaxListedSets && steps_ <= kMaxOptionSteps;
}

const std::vector<ChipOption>& ChipOptions::of(const NodeMachine& node,
                                               const std::vector<int>& sizes) {
  const auto [at, fresh] =
      known_.try_emplace({node.machine.get(), &adapters(node), node.free.bits(), sizes});
  if (!fresh) return at->second;
  std::vector<ChipOption>& out = at->second;
  const GroupChoice alone = choose_for_pods(
      *node.machine,
      {node.free, {}, sizes, distributed_, domain::Objective::bandwidth, node.loaded});
  if (!alone.fits) return out;
  out.push_back({alone.chips, rates_of(node, alone.chips)});
  if (alone.chips.empty() || !adapters(node).known()) return out;
  if (listable(node, alone.chips.size())) {
    list(node, sizes, out);
  } else {
    exact_ = false;
  }
  return out;
}

// The sets in the order of their upper bounds: where many are equally fast, only the first one
// with some rails is evaluated.
void ChipOptions::list(const NodeMachine& node, const std::vector<int>& sizes,
                       std::vector<ChipOption>& out) {
  struct Bounded {
    Rate bound = 0;
    ChipSet chips;
  };
  std::vector<Bounded> sets;
  const int chips = chips_in(sizes);
  each_subset(node.free, chips, [&](ChipSet set) {
    sets.push_back({node.machine->upper_bound(set), set});
    return true;
  });
  std::stable_sort(sets.begin(), sets.end(),
                   [](const Bounded& a, const Bounded& b) { return a.bound > b.bound; });
  const NodeAdapters& reached = adapters(node);
  ChipOption option;
  for (const Bounded& one : sets) {
    steps_ += 64;  // its rails, and comparing it
    if (steps_ > kMaxOptionSteps) {
      exact_ = false;
      return;
    }
    option.chips = one.chips;
    option.rates.rails.assign(static_cast<std::size_t>(rails()), 0);
    for (const Rail& rail : reached.of(one.chips).rails)
      option.rates.rails[static_cast<std::size_t>(rail.index)] = rail.gbps;
    option.rates.chips = chips < 2 ? kUnlimited : to_gbps(one.bound);
    const auto covered = [&] {
      return std::any_of(out.begin(), out.end(),
                         [&](const ChipOption& known) { return known.rates.covers(option.rates); });
    };
    if (covered()) continue;
    if (chips > 1) {
      const Bandwidth bandwidth = node.machine->bandwidth(one.chips);
      steps_ += bandwidth.steps;
      option.rates.chips = to_gbps(bandwidth.rate);
      if (covered()) continue;
    }
    if (!node.machine->choose_among({one.chips}, {node.free, {}, sizes, distributed_}).fits)
      continue;
    add(option, out);
  }
}

void ChipOptions::add(const ChipOption& option, std::vector<ChipOption>& out) const {
  std::erase_if(out, [&](const ChipOption& known) { return option.rates.covers(known.rates); });
  out.push_back(option);
}

std::vector<ChipSet> ChipOptions::sets(const NodeMachine& node, const std::vector<int>& sizes,
                                       const RateVector& need) {
  std::vector<ChipSet> out;
  if (listable(node, chips_in(sizes)) && adapters(node).known()) {
    each_subset(node.free, chips_in(sizes), [&](ChipSet set) {
      if (rates_of(node, set).covers(need)) out.push_back(set);
      return true;
    });
    return out;
  }
  for (const ChipOption& option : of(node, sizes)) {
    if (option.rates.covers(need)) out.push_back(option.chips);
  }
  return out;
}

}  // namespace chipweave::solver
