#include "common/solver/chips/unguided.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace chipweave::solver {
namespace {

using domain::ChipSet;

// Visits the sets of `size` of the slots, lowest first, until there are more than kUnguidedSets.
// False: there are.
bool list_sets(const std::vector<int>& slots, std::size_t from, int size, ChipSet begun,
               std::vector<ChipSet>& out) {
  if (size == 0) {
    out.push_back(begun);
    return out.size() <= static_cast<std::size_t>(kUnguidedSets);
  }
  for (std::size_t i = from; i + static_cast<std::size_t>(size) <= slots.size(); ++i) {
    ChipSet more = begun;
    more.insert(slots[i]);
    if (!list_sets(slots, i + 1, size - 1, more, out)) return false;
  }
  return true;
}

// Knuth's MMIX generator: the same picks each time.
class Picks {
 public:
  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((state_ >> 33U) % limit);
  }

 private:
  std::uint64_t state_ = 1;
};

std::vector<ChipSet> sample(std::vector<int> slots, int size) {
  std::vector<ChipSet> out;
  Picks picks;
  while (out.size() < static_cast<std::size_t>(kUnguidedSets)) {
    ChipSet set;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
      std::swap(slots[i], slots[i + picks.below(slots.size() - i)]);
      set.insert(slots[i]);
    }
    out.push_back(set);
  }
  return out;
}

}  // namespace

double unguided_gbps(Machine& machine, ChipSet free, int size, ChipSet beside) {
  if (size <= 0 || free.size() < size) return 0;
  std::vector<int> slots;
  for (const int slot : free) slots.push_back(slot);
  std::vector<ChipSet> sets;
  if (!list_sets(slots, 0, size, {}, sets)) sets = sample(slots, size);
  std::vector<double> rates;
  rates.reserve(sets.size());
  for (const ChipSet set : sets) rates.push_back(machine.gbps(set | beside));
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

}  // namespace chipweave::solver
