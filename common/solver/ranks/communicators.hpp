// PodTraffic — the communicators of a job as traffic between its pods: who sends how much to whom,
// by position in the order of ranks. Position p holds the ranks from p * ranks_per_pod on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/communicators.hpp"

namespace chipweave::solver {

// Two positions, a < b, and the traffic between them, both directions together.
struct PodEdge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::int64_t weight = 0;
};

struct PodTraffic {
  std::size_t pods = 0;
  // With all sizes filled in, including communicators of one rank and those inside a pod.
  std::vector<domain::Communicator> communicators;
  // By communicator: the number of pairs of ranks that exchange data per pair of positions,
  // ascending.
  std::vector<std::vector<PodEdge>> rank_pairs;
  std::vector<PodEdge> edges;  // weighted sum of all; none of weight 0
  // Sizes of the digits of a position along which the communicators of positive weight run, the
  // fastest first; their product is `pods`. One digit if the groups do not nest.
  std::vector<std::size_t> axes;
};

// Visits the members of a group with which `member` has a link that is counted at it: every linked
// pair is visited once.
template <class Visit>
void each_link(const domain::Communicator& it, std::int64_t member, const Visit& visit) {
  switch (it.pattern) {
    case domain::Pattern::ring:
      visit((member + 1) % it.size);
      return;
    case domain::Pattern::all_to_all:
      for (std::int64_t other = member + 1; other < it.size; ++other) visit(other);
      return;
    case domain::Pattern::tree: {
      // NCCL's: the parent has the lowest set bit moved up, within the size; the root is 0.
      if (member == 0) return;
      const std::int64_t bit = member & -member;
      const std::int64_t up = (member ^ bit) | (bit << 1U);
      visit(up >= it.size ? member ^ bit : up);
      return;
    }
  }
}

// Errors (invalid_argument, limit_exceeded) name the key: sizes below 1, sizes whose product is not
// the ranks of the job, groups that do not tile them, expert that does not divide context * data,
// weights and counts above limits. Cost: O(ranks) steps per communicator, plus sorting.
Result<PodTraffic> pod_traffic(const domain::Communicators& communicators, std::size_t pods);

}  // namespace chipweave::solver
