// PodTraffic — the communicators of a job seen between its pods: who sends how much to whom, by
// position in the order of ranks. Position p holds the ranks p * ranks_per_pod and following.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/communicators.hpp"

namespace chipweave::solver {

// Two positions, a < b, and what goes between them both ways together.
struct PodEdge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::int64_t weight = 0;
};

struct PodTraffic {
  std::size_t pods = 0;
  // Every size known; those of one rank and those that stay inside a pod included.
  std::vector<domain::Communicator> communicators;
  // By communicator: pairs of ranks, not weighted, by a then b; no pair of positions twice.
  std::vector<std::vector<PodEdge>> rank_pairs;
  std::vector<PodEdge> edges;  // weighted sum of all, without those of weight 0
  // Sizes, the fastest first, whose product is `pods`: of the digits of a position in which the
  // communicators of positive weight walk. One digit if the groups do not nest.
  std::vector<std::size_t> axes;
};

// Errors name the key: sizes below 1, sizes that do not multiply to the ranks of the job, groups
// that do not tile them, expert not dividing context * data, weights and counts above limits.
// Cost: O(ranks) steps a communicator, and sorting what they give.
Result<PodTraffic> pod_traffic(const domain::Communicators& communicators, std::size_t pods);

}  // namespace chipweave::solver
