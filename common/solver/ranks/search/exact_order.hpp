// The cheapest arrangement of a few pods, by branch and bound over those that are really different.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/ranks/search/order_improver.hpp"
#include "common/solver/ranks/search/order_judge.hpp"

namespace chipweave::solver {

// Arrangements that differ in more than which of a class's pods stands where and which of two
// domains of one shape is which: n! / product of classes' n_c! / product of same-shape siblings'
// k!. Nine pods have 9! = 362,880 at most, leaves of 6, 4 and 6 pods 840,840.
inline constexpr double kMaxArrangements = 2'000'000;
inline constexpr std::size_t kMaxExactPods = 32;
// About a tenth of a second. Nine pods need 20 million at most even if nothing is cut off, so up to
// there every request is decided.
inline constexpr Steps kExactOrderSteps = 30'000'000;

bool few_arrangements(const PodPlaces& places);

// Lowers `best` to the least cost there is, or leaves it if that is its cost. False: steps were
// used up before that was certain.
bool lower_to_least(const OrderJudge& judge, JudgedArrangement& best);

}  // namespace chipweave::solver
