#include "common/solver/chips/group_split.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace chipweave::solver {
namespace {

// Whether a comes first in the order "larger parts first, then lower indices": both are splits of
// one set into parts of the same sizes.
bool comes_first(std::vector<ChipSet> a, std::vector<ChipSet> b) {
  const auto before = [](ChipSet x, ChipSet y) {
    return x.size() != y.size() ? x.size() > y.size() : x.lowest() < y.lowest();
  };
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      domain::lower_indices);
}

// The best split of each union, over all of which one budget is exhausted.
class BestSplit {
 public:
  BestSplit(Selector& selector, const CandidateQuery& query, const std::vector<int>& sizes)
      : search_(
            sizes, selector.limits().group,
            [&selector, query](ChipSet part) -> RatedPart {
              constexpr Steps kLegality = 40;
              if (!selector.rules().legal(part, query.usable, query.distributed))
                return {false, 0, kLegality};
              const Bandwidth bandwidth = selector.rating(part, query.objective);
              return {true, bandwidth.rate, bandwidth.steps + kLegality};
            },
            [this](const Split& split, const std::vector<ChipSet>& parts) -> Steps {
              if (split > best_ || parts_.empty() || comes_first(parts, parts_)) {
                best_ = split;
                parts_ = parts;
              }
              return 0;
            }) {}

  // The parts, larger ones first; empty if the union has no legal split.
  std::vector<ChipSet> of(ChipSet joint) {
    parts_.clear();
    best_ = {};
    search_.run(joint, {});
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](ChipSet a, ChipSet b) { return a.size() > b.size(); });
    return parts_;
  }
  bool budget_exhausted() const { return search_.budget_exhausted(); }
  Steps steps() const { return search_.steps(); }

 private:
  Split best_;
  std::vector<ChipSet> parts_;
  SplitSearch search_;
};

// Some legal chips for each pod in turn, for when no union that was tried can be split.
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

// Pods of one job on a node, larger ones first.
class PodSplit {
 public:
  PodSplit(Selector& selector, const GroupRequest& pods)
      : selector_(selector), pods_(pods), order_(pods.sizes.size()) {
    const std::vector<int>& sizes = pods.sizes;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&sizes](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    for (const std::size_t i : order_) sizes_.push_back(sizes[i]);
    const Rules& rules = selector.rules();
    if (std::any_of(sizes.begin(), sizes.end(),
                    [&](int s) { return !rules.legal_size(s, pods.distributed); })) {
      out_.choice.why = Misfit::size;
    } else if (sizes.empty() || query().size > query().usable.size()) {
      out_.choice.why = Misfit::too_few_chips;
    }
  }

  bool impossible() const { return out_.choice.why != Misfit::none; }
  CandidateQuery query() const {
    const int size = std::accumulate(sizes_.begin(), sizes_.end(), 0);
    return {pods_.usable - pods_.already_held,
            ChipSet(),
            pods_.already_held,
            size,
            pods_.distributed,
            false,
            pods_.objective,
            pods_.loaded};
  }
  // `search` offers unions to a function that returns true when it needs no more.
  void among(const std::function<Steps(const std::function<bool(ChipSet)>&)>& search) {
    BestSplit best_split(selector_, query(), sizes_);
    const Steps searched = search([&](ChipSet joint) {
      const std::vector<ChipSet> parts = best_split.of(joint);
      if (!parts.empty()) settle(joint, parts);
      return !parts.empty() || best_split.budget_exhausted();
    });
    out_.steps = searched + best_split.steps();
  }
  void one_by_one() {
    if (const auto parts =
            solver::one_by_one(selector_, query().usable, sizes_, pods_.distributed)) {
      settle(std::accumulate(parts->begin(), parts->end(), ChipSet(),
                             [](ChipSet a, ChipSet b) { return a | b; }),
             *parts);
    }
  }
  bool fits() const { return out_.choice.fits; }
  SplitGroup answer() {
    if (!fits() && !impossible()) out_.choice.why = Misfit::rule;
    return out_;
  }

 private:
  void settle(ChipSet joint, const std::vector<ChipSet>& parts) {
    GroupChoice& out = out_.choice;
    out.fits = true;
    out.chips = joint;
    out.gbps = to_gbps(selector_.model().of(joint | pods_.already_held).rate);
    out.parts.assign(sizes_.size(), ChipSet());
    for (std::size_t k = 0; k < order_.size(); ++k) out.parts[order_[k]] = parts[k];
  }

  Selector& selector_;
  const GroupRequest& pods_;
  std::vector<std::size_t> order_;  // pods, larger ones first
  std::vector<int> sizes_;          // likewise
  SplitGroup out_;
};

}  // namespace

SplitSearch::SplitSearch(std::vector<int> sizes, Steps budget, RatePart rate, Visit visit)
    : left_(std::move(sizes)), budget_(budget), rate_(std::move(rate)), visit_(std::move(visit)) {
  std::sort(left_.begin(), left_.end());
}

void SplitSearch::run(ChipSet joint, const Split& floor) {
  best_ = floor;
  split(joint, Split{kUnlimited, 0});
}

void SplitSearch::split(ChipSet pool, const Split& so_far) {
  if (pool.empty()) {
    if (so_far < best_) return;
    steps_ += visit_(so_far, parts_);
    best_ = so_far;
    return;
  }
  const ChipSet lowest{pool.lowest()};
  for (std::size_t k = 0; k < left_.size(); ++k) {
    if (k > 0 && left_[k] == left_[k - 1]) continue;  // equal pods: one of them is enough
    const int size = left_[k];
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(k));
    fill(pool, lowest, pool - lowest, size, so_far);
    left_.insert(left_.begin() + static_cast<std::ptrdiff_t>(k), size);
  }
}

// Completes `part` to `size` chips out of `from`, in every way.
void SplitSearch::fill(ChipSet pool, ChipSet part, ChipSet from, int size, const Split& so_far) {
  if (part.size() == size) {
    const RatedPart rated = rate_(part);
    steps_ += rated.steps;
    if (budget_exhausted() || !rated.legal) return;
    Split next = so_far;
    next.add(part, rated.rate);
    if (next.slowest < best_.slowest) return;
    parts_.push_back(part);
    split(pool - part, next);
    parts_.pop_back();
    return;
  }
  while (!budget_exhausted() && from.size() >= size - part.size()) {
    const int slot = from.lowest();
    from.erase(slot);
    fill(pool, part | ChipSet{slot}, from, size, so_far);
  }
}

SplitGroup split_group(Selector& selector, const GroupRequest& pods) {
  PodSplit split(selector, pods);
  if (split.impossible()) return split.answer();
  split.among([&](const std::function<bool(ChipSet)>& take) {
    return selector.unions_best_first(split.query(), take);
  });
  if (!split.fits()) split.one_by_one();
  return split.answer();
}

SplitGroup split_one_of(Selector& selector, const std::vector<ChipSet>& unions,
                        const GroupRequest& pods) {
  PodSplit split(selector, pods);
  if (split.impossible()) return split.answer();
  CandidateList list;
  list.sets = unions;
  split.among([&](const std::function<bool(ChipSet)>& take) {
    return selector.sets_best_first(list, split.query(), take);
  });
  return split.answer();
}

}  // namespace chipweave::solver
