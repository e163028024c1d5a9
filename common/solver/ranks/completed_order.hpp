// The order of a job some of whose pods already have a rank: the others take the ranks that are
// left, at the least cost for the job's communicators (weighted_order.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/ranks/communicators.hpp"
#include "common/solver/ranks/weighted_order.hpp"

namespace chipweave::solver {

// Swaps are tried within this budget; for up to eight pods without a rank all arrangements are,
// within the same budget. A step evaluates one pair of neighbours.
inline constexpr Steps kCompletedOrderSteps = 20'000'000;

// fixed: by pod, its position in the order, if it has one; distinct and below pods.size(). order,
// optimal: as of weighted_order(), among the orders that keep these positions. Never costs more
// than filling the other positions depth-first.
WeightedOrder completed_order(std::size_t levels, const std::vector<RankPath>& pods,
                              const std::vector<std::optional<std::size_t>>& fixed,
                              const PodTraffic& traffic);

}  // namespace chipweave::solver
