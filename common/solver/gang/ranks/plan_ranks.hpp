// The ranks of a plan's pods, ordered for the communicators of their job: the pairs of ranks that
// exchange much cross few and fine borders (common/solver/ranks/weighted_order.hpp). Running pods
// keep their ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/communicators.hpp"
#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// What the order of all ranks costs, those of running pods included.
struct RankOrder {
  std::vector<std::string> levels;  // the fabric's, and "node" where a finest domain has several
  std::vector<std::size_t> ring;    // by level: borders that one ring of pods crosses
  std::int64_t weighted = 0;
  std::int64_t depth_first_weighted = 0;
  bool optimal = false;                              // no order of these pods costs less
  std::vector<domain::Communicator> communicators;   // with all sizes
  std::vector<std::vector<std::int64_t>> crossings;  // by communicator and level: pairs of ranks
};

// Pods that are all alike exchange their nodes, so that a pod keeps its number; others exchange
// their ranks; pods of several kinds that a repair moved keep both. Placed pods stay where they are
// otherwise. communicators: with ranks_per_pod. Errors (invalid_argument, limit_exceeded) name the
// key: communicators that do not tile the ranks, ranks of running pods with gaps. Cost: that of
// weighted_order() or completed_order().
Result<RankOrder> order_ranks(const Fabric& fabric, const std::vector<std::string>& level_names,
                              const domain::Gang& gang, const domain::Communicators& communicators,
                              domain::Plan& plan);

}  // namespace chipweave::solver
