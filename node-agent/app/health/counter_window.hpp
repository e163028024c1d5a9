// CounterWindow — how much a counter has risen within the last seconds.
//
// Holds the changes within the window, merging the oldest when there are too many: then the rise is
// at most a little old, never too small. O(1) amortised, at most kMostSteps entries.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <utility>

#include "common/base/clock.hpp"

namespace chipweave::agent {

class CounterWindow {
 public:
  // The value at that time, which does not go back. What is smaller than before began anew at zero;
  // the very first value is no rise.
  void see(double value, Clock::Steady now);
  double rise(Clock::Steady now, std::chrono::duration<double> window);

 private:
  static constexpr std::size_t kMostSteps = 64;
  struct Step {
    Clock::Steady at;
    double by;
  };
  bool known_ = false;
  double value_ = 0;
  std::deque<Step> steps_;  // oldest first
};

}  // namespace chipweave::agent
