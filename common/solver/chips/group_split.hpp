// GroupSplit — pods of one job that share a node: the best joint set, split so that each pod's own
// chips are as close as the set allows. All pods or none.
#pragma once

#include <algorithm>
#include <compare>
#include <functional>
#include <limits>
#include <vector>

#include "common/solver/chips/machine.hpp"
#include "common/solver/chips/selector.hpp"

namespace chipweave::solver {

// How fast the pods of a split are; more is better, compared in this order. Pods of one chip do not
// count.
struct Split {
  Rate slowest = 0;
  Rate sum = 0;
  void add(ChipSet part, Rate rate) {
    if (part.size() < 2) return;
    slowest = std::min(slowest, rate);
    sum += rate;
  }
  friend auto operator<=>(const Split&, const Split&) = default;
};

struct RatedPart {
  bool legal = false;
  Rate rate = 0;
  Steps steps = 0;  // cost of rating it
};

// SplitSearch — all ways to split a chip set into parts of given sizes, each once: the part with
// the lowest remaining chip is made first. Splits whose slowest part is slower than that of the
// best one so far are cut off. One budget for all runs; once it is exhausted the search visits
// no further splits.
class SplitSearch {
 public:
  static constexpr Rate kUnlimited =
      std::numeric_limits<Rate>::max();  // the slowest rate while there are no parts

  using RatePart = std::function<RatedPart(ChipSet)>;
  // A split that is as good as the best one so far, or better; parts ascend by their lowest chip.
  // Returns the steps that evaluating it took.
  using Visit = std::function<Steps(const Split&, const std::vector<ChipSet>& parts)>;

  // sizes: in any order; they sum to the size of the sets that are split.
  SplitSearch(std::vector<int> sizes, Steps budget, RatePart rate, Visit visit);

  // floor: worse splits than this are not visited.
  void run(ChipSet joint, const Split& floor);
  bool budget_exhausted() const { return steps_ > budget_; }
  Steps steps() const { return steps_; }

 private:
  void split(ChipSet pool, const Split& so_far);
  void fill(ChipSet pool, ChipSet part, ChipSet from, int size, const Split& so_far);

  std::vector<int> left_;  // sizes of the parts that are still to be made, ascending
  Steps budget_;
  RatePart rate_;
  Visit visit_;
  std::vector<ChipSet> parts_;
  Split best_;
  Steps steps_ = 0;
};

// The union is the best set of that many chips (with `already_held`) that splits into legal parts;
// the parts maximise the slowest pod's bandwidth, then the sum, then have the lowest indices,
// larger pods first. Unions are tried best first, for at most StepLimits::group (steps.hpp); then
// the best split so far counts, or, where there is none, some legal chips for each pod in turn.
// best_gbps is left 0.
struct SplitGroup {
  GroupChoice choice;
  Steps steps = 0;
};
SplitGroup split_group(Selector& selector, const GroupRequest& pods);
// The same, the union being one of these.
SplitGroup split_one_of(Selector& selector, const std::vector<ChipSet>& unions,
                        const GroupRequest& pods);

}  // namespace chipweave::solver
