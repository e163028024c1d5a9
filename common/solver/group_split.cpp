#include "common/solver/group_split.hpp"

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
    steps_ = 0;
    parts_.assign(sizes_.size(), ChipSet());
    step(0, pool, std::numeric_limits<Rate>::max(), 0);
    return best_;
  }

 private:
  void step(std::size_t k, ChipSet pool, Rate slowest, Rate sum) {
    if (++steps_ > kMaxSteps) return;
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
    if (part.size() == sizes_[k]) {
      if (!selector_.rules().legal(part, usable_, distributed_)) return;
      const Rate rate = selector_.model().of(part).rate;
      parts_[k] = part;
      step(k + 1, pool - part, part.size() > 1 ? std::min(slowest, rate) : slowest, sum + rate);
      return;
    }
    while (steps_ <= kMaxSteps && from.size() >= sizes_[k] - part.size() && !from.empty()) {
      const int s = from.lowest();
      from.erase(s);
      if (part.empty() && !holds_lowest && after_previous && s < parts_[k - 1].lowest()) continue;
      choose(k, pool, part | ChipSet{s}, from, slowest, sum, holds_lowest, after_previous);
      if (part.empty() && holds_lowest) return;
    }
  }

  static constexpr std::size_t kMaxSteps = 200000;  // beyond, the best deal found so far counts
  Selector& selector_;
  ChipSet usable_;
  std::vector<int> sizes_;
  bool distributed_;
  std::vector<ChipSet> parts_;
  std::optional<Deal> best_;
  std::size_t steps_ = 0;
};

}  // namespace

GroupChoice split_group(Selector& selector, ChipSet usable, ChipSet beside,
                        const std::vector<int>& sizes, bool distributed) {
  GroupChoice out;
  const int total = std::accumulate(sizes.begin(), sizes.end(), 0);
  const ChipSet pool = usable - beside;
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
  Dealer dealer(selector, pool, sorted, distributed);
  const CandidateQuery query{pool, ChipSet(), beside, total, distributed, false};
  for (const ChipSet joint : selector.unions_best_first(query)) {
    const std::optional<Deal> deal = dealer.deal(joint);
    if (!deal) continue;
    out.fits = true;
    out.chips = joint;
    out.gbps = to_gbps(selector.model().of(joint | beside).rate);
    out.parts.assign(sizes.size(), ChipSet());
    for (std::size_t k = 0; k < order.size(); ++k) out.parts[order[k]] = deal->parts[k];
    return out;
  }
  out.why = Misfit::rule;
  return out;
}

}  // namespace chipweave::solver
