// Weighted rank order — pods that have a place, in the order in which the communicators of their
// job cross the fewest and finest borders (docs/concepts/rank-order.md).
//
// The cost of an order is the sum, over every pair of neighbours in a communicator's groups and
// every level at which the two lie in different domains, of the communicator's weight times
// level_weight(). For one ring through all pods depth_first() is best; for others it need not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/solver/ranks/communicators.hpp"
#include "common/solver/ranks/rank_order.hpp"

namespace chipweave::solver {

struct WeightedOrder {
  std::vector<std::size_t> order;  // positions of pods, in rank order
  bool optimal = false;            // proven: no order costs less
};

// Never dearer than depth_first(), which is the answer wherever nothing cheaper is found.
// Otherwise: among domains that could change places without a difference the first pod's comes
// first, the others in natural order, pods of one domain as depth_first() lists them; the order
// runs in that of its two directions that begins nearer to the first pod. Always optimal with up to
// nine pods, and wherever few_arrangements() unless kExactOrderSteps run out (exact_order.hpp).
// levels: at most limits::kMaxNetworkLevels.
//
// Cost: O(n levels log n) to sort pods; then counted steps, a look at one pair of positions each:
// at most kExactOrderSteps (exact_order.hpp) where arrangements are few, at most kImproveSteps
// (weighted_order.cpp) where they are not; before either, O(n + pairs) a candidate, of which there
// are some hundred, or fewer so that they stay below kCandidateSteps.
WeightedOrder weighted_order(std::size_t levels, const std::vector<RankPath>& pods,
                             const PodTraffic& traffic);

// How many pairs of neighbouring ranks of each communicator lie in different domains, by
// communicator and level; not weighted.
std::vector<std::vector<std::int64_t>> communicator_crossings(
    std::size_t levels, const std::vector<RankPath>& pods, const PodTraffic& traffic,
    const std::vector<std::size_t>& order);

// What an order costs by those crossings. At most 2^60.
std::int64_t weighted_cost(const PodTraffic& traffic,
                           const std::vector<std::vector<std::int64_t>>& crossings);

}  // namespace chipweave::solver
