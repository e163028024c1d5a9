// Weighted rank order — placed pods in the order in which the communicators of their job cross the
// fewest and finest borders (docs/concepts/rank-order.md).
//
// The cost of an order is the sum, over every pair that exchanges data in a communicator's groups
// and every level at which the two are in different domains, of the communicator's weight times
// level_weight(). For one ring through all pods depth_first() is optimal; for other communicators
// it need not be.
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

// Never more expensive than depth_first(), which is the result unless something cheaper is found.
// Then, among interchangeable domains the first pod's comes first and the others follow in natural
// order, pods of one domain as depth_first() lists them; of its two directions the order takes the
// one that starts closer to the first pod. Always optimal with up to nine pods, and wherever
// few_arrangements() unless kExactOrderSteps is exhausted (exact_order.hpp). levels: at most
// limits::kMaxNetworkLevels.
//
// Cost: O(n levels log n) to sort pods, O(n + pairs) for each of some hundred candidates (fewer, if
// they would exceed kCandidateSteps), then counted steps of one pair of positions each: at most
// kExactOrderSteps where there are few arrangements, else at most kImproveSteps
// (weighted_order.cpp).
WeightedOrder weighted_order(std::size_t levels, const std::vector<RankPath>& pods,
                             const PodTraffic& traffic);

// By communicator and level, the pairs of ranks that exchange data across domains; not weighted.
std::vector<std::vector<std::int64_t>> communicator_crossings(
    std::size_t levels, const std::vector<RankPath>& pods, const PodTraffic& traffic,
    const std::vector<std::size_t>& order);

// The cost of an order with these crossings. At most 2^60.
std::int64_t weighted_cost(const PodTraffic& traffic,
                           const std::vector<std::vector<std::int64_t>>& crossings);

}  // namespace chipweave::solver
