// CounterWindow — how much a counter has risen within the last seconds.
//
// Keeps the increments within the window, merging the oldest when there are too many: then the rise
// may include slightly older increments, but is never too small. O(1) amortised, at most kMaxSteps
// entries.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <utility>

#include "common/base/clock.hpp"

namespace chipweave::agent {

class CounterWindow {
 public:
  // Records the value at `now`, which must not decrease. A smaller value than before means that the
  // counter restarted at zero; the first value is not a rise.
  void see(double value, Clock::Steady now);
  double rise(Clock::Steady now, std::chrono::duration<double> window);

 private:
  static constexpr std::size_t kMaxSteps = 64;
  struct Step {
    Clock::Steady at;
    double by;
  };
  bool known_ = false;
  double value_ = 0;
  std::deque<Step> steps_;  // oldest first
};

}  // namespace chipweave::agent
