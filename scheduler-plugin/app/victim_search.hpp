// VictimSearch — which pods of one node must end so that another pod fits there.
//
// It looks for the cheapest set: the fewest pods, then the lowest of the highest priorities, then
// the lowest sum of priorities. The end of one pod ends the work of its whole job, so a job counts
// with all its pods, once. Without any one pod of the set the other pod does not fit. The set is
// the cheapest of all if the search ends before its work is done, else the cheapest found so far.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/chip_set.hpp"

namespace chipweave::sched {

struct Victim {
  std::string uid;
  domain::ChipSet chips;  // that come free with it
  int priority = 0;
  std::string job;           // empty: none
  std::size_t job_pods = 1;  // pods of the job in the cluster
};

class VictimSearch {
 public:
  // Whether the pod fits if these chips come free.
  using Fits = std::function<bool(domain::ChipSet)>;
  // What a call of `fits` costs, in sets that are considered without one.
  static constexpr std::int64_t kFitsWork = 16;

  // missing: how many chips must come free at least. Of victims that are equally good, those that
  // are listed first are preferred.
  VictimSearch(std::vector<Victim> victims, int missing, Fits fits);

  // Empty if the end of all of them is not enough. One call of `fits` for all victims together and
  // one for each of them are made even if that exceeds `work`.
  std::vector<std::string> find(std::int64_t work);
  std::int64_t work_done() const { return done_; }

 private:
  static constexpr std::int64_t kLowest = std::int64_t{INT32_MIN} - 1;
  struct Cost {
    std::size_t pods = 0;
    std::int64_t highest = kLowest;
    std::int64_t sum = 0;  // of priorities above kLowest, so that each pod adds to it
    friend auto operator<=>(const Cost&, const Cost&) = default;
  };

  bool fits(domain::ChipSet freed);
  std::size_t weight(std::size_t victim) const;
  Cost with(const Cost& cost, std::size_t victim) const;
  std::optional<Cost> bound(const Cost& cost, std::size_t from, int missing) const;
  void drop_needless();
  void extend(const Cost& cost, std::size_t from, domain::ChipSet freed);

  std::vector<Victim> victims_;     // by priority
  std::vector<std::int64_t> sums_;  // of the victims before each, see Cost::sum
  std::vector<int> largest_;        // chips of the largest of the victims from each on
  bool share_job_ = false;          // some of them
  int missing_;
  Fits fits_;
  std::int64_t work_ = 0;
  std::int64_t done_ = 0;
  std::vector<std::size_t> chosen_;  // the set that is being considered
  std::vector<std::size_t> best_set_;
  Cost best_;
  // A round considers sets up to a number of pods; larger ones wait for a later round.
  std::size_t most_pods_ = 0;
  std::size_t next_round_ = 0;
};

}  // namespace chipweave::sched
