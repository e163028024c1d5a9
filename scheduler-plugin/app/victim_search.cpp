#include "scheduler-plugin/app/victim_search.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace chipweave::sched {

VictimSearch::VictimSearch(std::vector<Victim> victims, int missing, Fits fits)
    : victims_(std::move(victims)), missing_(missing), fits_(std::move(fits)) {
  std::stable_sort(victims_.begin(), victims_.end(),
                   [](const Victim& a, const Victim& b) { return a.priority < b.priority; });
  const std::size_t n = victims_.size();
  sums_.assign(n + 1, 0);
  largest_.assign(n + 1, 0);
  std::set<std::string_view> jobs;
  for (std::size_t i = 0; i < n; ++i) {
    sums_[i + 1] = sums_[i] + victims_[i].priority - kLowest;
    share_job_ = share_job_ || (!victims_[i].job.empty() && !jobs.insert(victims_[i].job).second);
  }
  for (std::size_t i = n; i-- > 0;)
    largest_[i] = std::max(largest_[i + 1], victims_[i].chips.size());
}

bool VictimSearch::fits(domain::ChipSet freed) {
  if (freed.size() < missing_) return false;
  done_ += kFitsWork;
  return fits_(freed);
}

std::size_t VictimSearch::weight(std::size_t victim) const {
  return victims_[victim].job.empty() ? 1 : victims_[victim].job_pods;
}

// The cost of the chosen victims, which is given, and this one.
VictimSearch::Cost VictimSearch::with(const Cost& cost, std::size_t victim) const {
  const Victim& v = victims_[victim];
  const bool counted = share_job_ && !v.job.empty() &&
                       std::any_of(chosen_.begin(), chosen_.end(), [&](std::size_t chosen) {
                         return victims_[chosen].job == v.job;
                       });
  return {cost.pods + (counted ? 0 : weight(victim)),
          std::max<std::int64_t>(cost.highest, v.priority), cost.sum + v.priority - kLowest};
}

// No set that fits costs less if it adds victims only from this one on; empty: none of these fits.
std::optional<VictimSearch::Cost> VictimSearch::bound(const Cost& cost, std::size_t from,
                                                      int missing) const {
  const int largest = largest_[from];
  const int more = missing <= 0 ? 1 : (missing + largest - 1) / largest;
  const std::size_t end = from + static_cast<std::size_t>(more);
  if (end > victims_.size()) return std::nullopt;
  return Cost{cost.pods + (share_job_ ? 0 : end - from),
              std::max<std::int64_t>(cost.highest, victims_[end - 1].priority),
              cost.sum + sums_[end] - sums_[from]};
}

// Starts with all victims and keeps those that can stay, the most expensive first.
void VictimSearch::drop_needless() {
  const std::size_t n = victims_.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (weight(a) != weight(b)) return weight(a) > weight(b);
    return std::tie(victims_[b].job, b) < std::tie(victims_[a].job, a);
  });
  std::vector<bool> stays(n, false);
  for (const std::size_t one : order) {
    domain::ChipSet freed;
    for (std::size_t i = 0; i < n; ++i) {
      if (!stays[i] && i != one) freed |= victims_[i].chips;
    }
    stays[one] = fits(freed);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (stays[i]) continue;
    best_ = with(best_, i);
    chosen_.push_back(i);
  }
  best_set_ = std::exchange(chosen_, {});
}

// Considers the chosen victims with each set of the victims from this one on.
void VictimSearch::extend(const Cost& cost, std::size_t from, domain::ChipSet freed) {
  for (std::size_t i = from; i < victims_.size() && done_ < work_; ++i) {
    ++done_;
    const auto least = bound(cost, i, missing_ - freed.size());
    if (!least || *least >= best_) return;
    const Cost next = with(cost, i);
    if (next >= best_) continue;
    if (std::max(least->pods, next.pods) > most_pods_) {
      next_round_ = std::min(next_round_, std::max(least->pods, next.pods));
      continue;
    }
    const domain::ChipSet chips = freed | victims_[i].chips;
    chosen_.push_back(i);
    if (fits(chips)) {
      best_ = next;
      best_set_ = chosen_;
    } else {
      extend(next, i + 1, chips);
    }
    chosen_.pop_back();
  }
}

std::vector<std::string> VictimSearch::find(std::int64_t work) {
  work_ = work;
  domain::ChipSet all;
  for (const Victim& v : victims_) all |= v.chips;
  if (!fits(all)) return {};
  drop_needless();
  for (most_pods_ = 1; most_pods_ <= best_.pods && done_ < work_; most_pods_ = next_round_) {
    next_round_ = best_.pods + 1;
    extend({}, 0, {});
    if (best_.pods <= most_pods_) break;
  }
  std::vector<std::string> uids;
  for (const std::size_t victim : best_set_) uids.push_back(victims_[victim].uid);
  return uids;
}

}  // namespace chipweave::sched
