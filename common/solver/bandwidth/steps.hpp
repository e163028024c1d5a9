// Steps — how much a decision may cost, counted instead of timed: the same request gets the same
// answer on a fast machine, a slow one and under a sanitizer.
//
// A step is one turn of an inner loop, one to some nanoseconds on a core of today. What is already
// known is charged like what must be found, so no answer depends on what was asked before.
#pragma once

#include <cstdint>

namespace chipweave::solver {

using Steps = std::uint64_t;

struct StepLimits {
  Steps set;     // the packing of one set of at most 16 chips
  Steps search;  // one search over sets; the last set may end it late by `set`
  Steps judge;   // the later criteria of the sets that tie
  Steps list;    // the best on the empty machine of 2, 4 or 8 chips
  Steps rest;    // what the rest of one set still offers
  Steps group;   // a group of pods: each of search, later criteria, deals
};

// Machines of at most 16 chips are decided exactly. The limits only make sure that a decision ends:
// the dearest of some thousand random wirings took a fifth of them.
inline constexpr StepLimits kExactSteps{2'000'000'000, 2'000'000'000, 2'000'000'000,
                                        2'000'000'000, 2'000'000'000, 200'000'000};
// Above, a decision ends after half a second or so with the best found so far and a bound.
inline constexpr StepLimits kBoundedSteps{100'000'000, 200'000'000, 200'000'000,
                                          25'000'000,  5'000'000,   10'000'000};
constexpr const StepLimits& steps_for(int chips) {
  constexpr int kExactChips = 16;
  return chips <= kExactChips ? kExactSteps : kBoundedSteps;
}

}  // namespace chipweave::solver
