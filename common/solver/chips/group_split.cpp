#include "common/solver/chips/group_split.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace chipweave::solver {
namespace {

// One way to deal a union out, with what it is judged by.
struct Deal {
  Rate slowest = 0;
  Rate sum = 0;
  std::vector<ChipSet> parts;
};

class Dealer {
 public:
  Dealer(Selector& selector, ChipSet usable, std::vector<int> sizes, bool distributed)
      : selector_(selector), usable_(usable), sizes_(std::move(sizes)), distributed_(distributed) {}

  // sizes are non-increasing; equal ones take ascending lowest chips, so that no deal is tried
  // twice.
  std::optional<Deal> deal(ChipSet pool) {
    best_.reset();
    parts_.assign(sizes_.size(), ChipSet());
    step(0, pool, std::numeric_limits<Rate>::max(), 0);
    return best_;
  }

  bool tired() const { return steps_ > selector_.limits().group; }

 private:
  void step(std::size_t k, ChipSet pool, Rate slowest, Rate sum) {
    steps_ += kStep;
    if (tired()) return;
    if (best_ && slowest < best_->slowest) return;
    if (k == sizes_.size()) {
      if (!best_ || slowest > best_->slowest || (slowest == best_->slowest && sum > best_->sum)) {
        best_ = Deal{slowest, sum, parts_};
      }
      return;
    }
    const bool same_as_before = k > 0 && sizes_[k] == sizes_[k - 1];
    const bool all_same = sizes_[k] * static_cast<int>(sizes_.size() - k) == pool.size() &&
                          sizes_[k] == sizes_.back();
    // When every part left has one size, the next part may be the one that holds the lowest chip.
    choose(k, pool, ChipSet(), pool, slowest, sum, all_same, same_as_before);
  }

  void choose(std::size_t k, ChipSet pool, ChipSet part, ChipSet from, Rate slowest, Rate sum,
              bool holds_lowest, bool after_previous) {
    steps_ += kStep;
    if (part.size() == sizes_[k]) {
      if (!selector_.rules().legal(part, usable_, distributed_)) return;
      const Bandwidth w = selector_.model().of(part);
      const Rate rate = w.rate;
      steps_ += w.steps;
      parts_[k] = part;
      step(k + 1, pool - part, part.size() > 1 ? std::min(slowest, rate) : slowest, sum + rate);
      return;
    }
    while (!tired() && from.size() >= sizes_[k] - part.size() && !from.empty()) {
      const int s = from.lowest();
      from.erase(s);
      if (part.empty() && !holds_lowest && after_previous && s < parts_[k - 1].lowest()) continue;
      choose(k, pool, part | ChipSet{s}, from, slowest, sum, holds_lowest, after_previous);
      if (part.empty() && holds_lowest) return;
    }
  }

  static constexpr Steps kStep = 20;
  Selector& selector_;
  ChipSet usable_;
  std::vector<int> sizes_;
  bool distributed_;
  std::vector<ChipSet> parts_;
  std::optional<Deal> best_;
  Steps steps_ = 0;  // over all unions; beyond the limit the best deal found so far counts
};

// Some legal chips for each pod in turn: where no union that was looked at can be dealt out.
std::optional<std::vector<ChipSet>> one_by_one(const Selector& selector, ChipSet pool,
                                               const std::vector<int>& sizes, bool distributed) {
  std::vector<ChipSet> parts;
  ChipSet left = pool;
  for (const int size : sizes) {
    const ChipSet part = selector.any_set({left, ChipSet(), ChipSet(), size, distributed, false});
    if (part.empty() || !selector.rules().legal(part, pool, distributed)) return std::nullopt;
    parts.push_back(part);
    left -= part;
  }
  return parts;
}

}  // namespace

GroupChoice split_group(Selector& selector, ChipSet usable, ChipSet already_held,
                        const std::vector<int>& sizes, bool distributed) {
  GroupChoice out;
  const int total = std::accumulate(sizes.begin(), sizes.end(), 0);
  const ChipSet pool = usable - already_held;
  const Rules& rules = selector.rules();
  if (std::any_of(sizes.begin(), sizes.end(),
                  [&](int s) { return !rules.legal_size(s, distributed); })) {
    out.why = Misfit::size;
    return out;
  }
  if (sizes.empty() || total > pool.size()) {
    out.why = Misfit::too_few_chips;
    return out;
  }
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&sizes](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<int> sorted;
  sorted.reserve(sizes.size());
  for (const std::size_t i : order) sorted.push_back(sizes[i]);
  const auto settle = [&](ChipSet joint, const std::vector<ChipSet>& parts) {
    out.fits = true;
    out.chips = joint;
    out.gbps = to_gbps(selector.model().of(joint | already_held).rate);
    out.parts.assign(sizes.size(), ChipSet());
    for (std::size_t k = 0; k < order.size(); ++k) out.parts[order[k]] = parts[k];
  };
  Dealer dealer(selector, pool, sorted, distributed);
  const CandidateQuery query{pool, ChipSet(), already_held, total, distributed, false};
  selector.unions_best_first(query, [&](ChipSet joint) {
    const std::optional<Deal> deal = dealer.deal(joint);
    if (deal) settle(joint, deal->parts);
    return deal || dealer.tired();
  });
  if (out.fits) return out;
  if (const auto parts = one_by_one(selector, pool, sorted, distributed)) {
    settle(std::accumulate(parts->begin(), parts->end(), ChipSet(),
                           [](ChipSet a, ChipSet b) { return a | b; }),
           *parts);
    return out;
  }
  out.why = Misfit::rule;
  return out;
}

}  // namespace chipweave::solver
