// The cheapest arrangement of a few pods, by branch and bound over the arrangements that really
// differ.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/ranks/search/order_cost.hpp"
#include "common/solver/ranks/search/order_improver.hpp"

namespace chipweave::solver {

// Arrangements up to permuting the pods of a class and domains of one shape: n! / product of n_c!
// over classes / product of k! over siblings of one shape. Nine pods have at most 9! = 362,880,
// leaves of 6, 4 and 6 pods 840,840.
inline constexpr double kMaxArrangements = 2'000'000;
inline constexpr std::size_t kMaxExactPods = 32;
// About a tenth of a second. Nine pods need at most 20 million even without pruning, so up to there
// every request is solved.
inline constexpr Steps kExactOrderSteps = 30'000'000;

bool few_arrangements(const PodPlaces& places);

// Lowers `best` to the minimum. False: the step budget was exhausted before that was proven.
bool lower_to_least(const OrderCost& order_cost, CostedArrangement& best);

}  // namespace chipweave::solver
