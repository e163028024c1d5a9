// Steps — the cost of a decision, counted instead of timed, so that the same request gets the same
// answer on a fast machine, on a slow one and under a sanitizer.
//
// A step is one iteration of an inner loop, one to several nanoseconds on current cores. Memoised
// results are charged like computed ones, so no answer depends on earlier requests.
#pragma once

#include <cstdint>

namespace chipweave::solver {

using Steps = std::uint64_t;

struct StepLimits {
  Steps set;       // the packing of one set
  Steps search;    // one search over sets; may be exceeded by `set` once
  Steps ceiling;   // likewise, for the best on the empty machine
  Steps criteria;  // ranking the sets that tie by the later criteria
  Steps list;      // the best 2, 4 or 8 chips on the empty machine
  Steps rest;      // what the chips that one set leaves still offer
  Steps group;     // a group of pods: search, later criteria and splits, each
  Steps decision;  // all of these together, tables cold; held by tests and a fuzz target
};

// Machines of at most 16 chips. Every machine that is on the market is decided exactly within a
// fiftieth of this, and most random wirings are; the others get the best found, and a bound. The
// first decision on a machine takes 50 ms at most.
inline constexpr StepLimits kSmallSteps{10'000'000, 12'000'000, 3'000'000, 4'000'000,
                                        1'000'000,  250'000,    4'000'000, 60'000'000};
// Larger machines: 250 ms.
inline constexpr StepLimits kLargeSteps{20'000'000, 35'000'000, 5'000'000, 15'000'000,
                                        0,          0,          8'000'000, 160'000'000};
constexpr const StepLimits& steps_for(int chips) {
  constexpr int kSmall = 16;
  return chips <= kSmall ? kSmallSteps : kLargeSteps;
}

}  // namespace chipweave::solver
