// ExactMoves — the best set of moves by branch and bound: over the sets of domains that become
// empty, and for each set over the nodes that its pods move to. Pods of other domains move only to
// make room.
//
// Every step is counted, so the search ends; without an end it keeps the best set found. Nodes in
// the same state, equal pods and equal domains are tried once.
#pragma once

#include <cstdint>

#include "common/solver/gang/defrag/search/move_problem.hpp"

namespace chipweave::solver {

// Beyond these the search is not worth its steps.
inline constexpr std::size_t kMaxExactPods = 500;
inline constexpr std::size_t kMaxExactNodes = 2000;

struct ExactResult {
  Targets targets;
  bool complete = false;  // no set of moves is better
};

// start: the set to beat.
ExactResult exact_moves(const MoveProblem& problem, Targets start, std::uint64_t max_steps);

}  // namespace chipweave::solver
