#include "common/solver/preservation.hpp"

#include <algorithm>

#include "common/solver/ring_graph.hpp"

namespace chipweave::solver {
namespace {

// The next set with as many members (Gosper): enumerates the subsets of one size of {0..n-1} in
// value order.
std::uint64_t next_same_size(std::uint64_t x) {
  const std::uint64_t low = x & (~x + 1);
  const std::uint64_t up = x + low;
  return (((x ^ up) >> 2U) / low) | up;
}

// One switch with equal ports, or equal links between all chips; no rule that tells sets apart.
bool all_sets_alike(const Wiring& wiring, const BandwidthModel& model) {
  const int n = wiring.chip_count();
  if (wiring.rule().kind != domain::RuleKind::any || !wiring.partitions().empty() || n < 2) {
    return false;
  }
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      if (wiring.direct(a, b) != wiring.direct(0, 1) || model.fast(a, b) != model.fast(0, 1) ||
          model.hop(a, b) != model.fast(a, b)) {
        return false;
      }
    }
  }
  if (wiring.direct(0, 1) > 0) return wiring.planes().empty();
  return wiring.planes().size() == 1 && wiring.planes()[0].members == ChipSet::first(n);
}

}  // namespace

Preservation::Preservation(const Wiring& wiring, const Rules& rules, BandwidthModel& model)
    : rules_(rules),
      model_(model),
      n_(wiring.chip_count()),
      alike_(all_sets_alike(wiring, model)) {}

const std::vector<Preservation::Listed>& Preservation::sets_of(int size) {
  auto [it, fresh] = lists_.try_emplace(size);
  if (!fresh) return it->second;
  const ChipSet all = ChipSet::first(n_);
  for (std::uint64_t m = ChipSet::first(size).bits(); m <= all.bits(); m = next_same_size(m)) {
    const ChipSet set(m);
    if (rules_.legal(set, all, false)) it->second.push_back({model_.upper_bound(set), set});
    if (size == n_) break;
  }
  std::stable_sort(it->second.begin(), it->second.end(),
                   [](const Listed& a, const Listed& b) { return a.bound > b.bound; });
  Rate best = 0;
  for (const Listed& l : it->second) {
    if (l.bound <= best) break;
    best = std::max(best, model_.of(l.set).rate);
  }
  best_[size] = best;
  return it->second;
}

Rate Preservation::best_within(int size, ChipSet pool) {
  if (size < 2 || pool.size() < size || !rules_.legal_size(size, false)) return 0;
  if (alike_) return best_[size] = model_.of(ChipSet::first(size)).rate;
  const std::vector<Listed>& list = sets_of(size);
  const Rate ceiling = best_[size];
  // Where chips are alike the lowest ones already reach the machine's best.
  ChipSet lowest;
  for (const int s : pool) {
    if (lowest.size() == size) break;
    lowest.insert(s);
  }
  Rate best = rules_.legal(lowest, pool, false) ? model_.of(lowest).rate : 0;
  for (const Listed& l : list) {
    if (best >= ceiling || l.bound <= best) break;
    if (pool.contains(l.set)) best = std::max(best, model_.of(l.set).rate);
  }
  return best;
}

Preservation::Value Preservation::of(ChipSet rest) {
  if (const Value* known = memo_.find(rest.bits())) return *known;
  Value out;
  for (const int a : rest) {
    for (const int b : rest) {
      if (a < b) out.pairs += model_.fast(a, b);
    }
  }
  if (n_ <= kMaxRingChips) {
    for (int size = 2; size <= rest.size(); size *= 2) {
      const Rate now = best_within(size, rest);
      if (now > 0) out.offer += now * 1000000 / best_[size];
    }
  }
  memo_.insert(rest.bits(), out);
  return out;
}

}  // namespace chipweave::solver
