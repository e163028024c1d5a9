#include "common/solver/chips/sets/preservation.hpp"

#include <algorithm>

#include "common/solver/bandwidth/rings/ring_graph.hpp"

namespace chipweave::solver {
namespace {

// The next set with as many members (Gosper): enumerates the subsets of one size of {0..n-1} in
// value order.
std::uint64_t next_same_size(std::uint64_t x) {
  const std::uint64_t low = x & (~x + 1);
  const std::uint64_t up = x + low;
  return (((x ^ up) >> 2U) / low) | up;
}

// One switch with equal ports, or equal links between all chips; no rule that distinguishes sets.
bool all_sets_equivalent(const Wiring& wiring, const BandwidthModel& model) {
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
      uniform_(all_sets_equivalent(wiring, model)) {}

const std::vector<Preservation::Listed>& Preservation::sets_of(int size) {
  auto [it, fresh] = lists_.try_emplace(size);
  if (!fresh) return it->second;
  const ChipSet all = ChipSet::first(n_);
  for (std::uint64_t m = ChipSet::first(size).bits(); m <= all.bits(); m = next_same_size(m)) {
    const ChipSet set(m);
    if (rules_.legal(set, all, false)) {
      it->second.push_back({model_.upper_bound(set), set});
      list_steps_ += model_.bound_steps(set);
    }
    if (size == n_) break;
  }
  std::stable_sort(it->second.begin(), it->second.end(),
                   [](const Listed& a, const Listed& b) { return a.bound > b.bound; });
  Bandwidth best;
  for (const Listed& l : it->second) {
    if (l.bound <= best.rate) break;
    if (best.steps > steps_for(n_).list) {
      best.bound = std::max(best.bound, l.bound);
      break;
    }
    const Bandwidth w = model_.of(l.set);
    best = {std::max(best.rate, w.rate), std::max(best.bound, w.bound), best.steps + w.steps};
  }
  best_[size] = best;
  list_steps_ += best.steps;
  return it->second;
}

Rate Preservation::best_within(int size, ChipSet pool, Answer& out) {
  if (size < 2 || pool.size() < size || !rules_.legal_size(size, false)) return 0;
  if (uniform_) return (best_[size] = model_.of(ChipSet::first(size))).rate;
  const std::vector<Listed>& list = sets_of(size);
  const Rate ceiling = best_[size].rate;
  out.exact = out.exact && best_[size].exact();
  // Where chips are interchangeable the lowest ones already reach the machine's best.
  ChipSet lowest;
  for (const int s : pool) {
    if (lowest.size() == size) break;
    lowest.insert(s);
  }
  Rate best = 0;
  const auto try_set = [&](ChipSet set) {
    const Bandwidth w = model_.of(set);
    out.steps += w.steps;
    out.exact = out.exact && w.exact();
    best = std::max(best, w.rate);
  };
  if (rules_.legal(lowest, pool, false)) try_set(lowest);
  for (const Listed& l : list) {
    if (best >= ceiling || l.bound <= best) break;
    if (++out.steps > steps_for(n_).rest) {
      out.exact = false;
      break;
    }
    if (pool.contains(l.set)) try_set(l.set);
  }
  return best;
}

Preservation::Answer Preservation::of(ChipSet rest) {
  if (const Answer* known = memo_.find(rest.bits())) return *known;
  Answer out;
  for (const int a : rest) {
    for (const int b : model_.fast_partners(a) & rest) {
      if (a < b) out.value.pairs += model_.fast(a, b);
    }
    out.steps += static_cast<Steps>(rest.size());
  }
  if (n_ <= kMaxRingChips) {
    for (int size = 2; size <= rest.size(); size *= 2) {
      const Rate now = best_within(size, rest, out);
      if (now > 0) out.value.offer += now * 1000000 / std::max(now, best_[size].rate);
    }
  }
  memo_.insert(rest.bits(), out);
  return out;
}

}  // namespace chipweave::solver
