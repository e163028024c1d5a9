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
  Steps criteria;  // ranking the sets that tie by the later criteria
  Steps list;      // the best 2, 4 or 8 chips on the empty machine
  Steps rest;      // what the chips that one set leaves still offer
  Steps group;     // a group of pods: search, later criteria and splits, each
};

// Machines of at most 16 chips get exact decisions. The limits only guarantee termination: the most
// expensive of some thousand random wirings took a fifth of them.
inline constexpr StepLimits kExactSteps{2'000'000'000, 2'000'000'000, 2'000'000'000,
                                        2'000'000'000, 2'000'000'000, 200'000'000};
// Larger machines get the best found in about half a second, and a bound.
inline constexpr StepLimits kBoundedSteps{100'000'000, 200'000'000, 200'000'000,
                                          25'000'000,  5'000'000,   10'000'000};
constexpr const StepLimits& steps_for(int chips) {
  constexpr int kExactChips = 16;
  return chips <= kExactChips ? kExactSteps : kBoundedSteps;
}

}  // namespace chipweave::solver
