// Steps — how much a decision may cost, counted instead of timed: the same request gets the same
// answer on a fast machine, a slow one and under a sanitizer.
//
// A step is one turn of an inner loop, one to three nanoseconds on a core of today. What is already
// known is charged like what must be found, so no answer depends on what was asked before.
#pragma once

#include <cstdint>

namespace chipweave::solver {

using Steps = std::uint64_t;

inline constexpr Steps kSetSteps = 100'000'000;     // the packing of one set
inline constexpr Steps kSearchSteps = 200'000'000;  // one search over sets; the last set may end it
                                                    // late by kSetSteps
inline constexpr Steps kJudgeSteps = 200'000'000;   // the later criteria of the sets that tie
inline constexpr Steps kListSteps = 25'000'000;  // the best on the empty machine of 2, 4 or 8 chips
inline constexpr Steps kRestSteps = 5'000'000;   // what the rest of one set still offers
inline constexpr Steps kGroupSteps = 10'000'000;  // a group: each of search, later criteria, deals

}  // namespace chipweave::solver
