// GreedyMoves — a good set of moves in O((nodes + pods) log nodes): the domains that need the
// fewest chips moved are emptied, each pod going to the smallest hole that takes it in a domain
// that stays in use; the largest pods choose first. A domain of which a pod finds no hole keeps its
// pods and takes others'.
#pragma once

#include "common/solver/gang/defrag/search/move_problem.hpp"

namespace chipweave::solver {

// The best of several runs, which try to empty different numbers of domains.
Targets greedy_moves(const MoveProblem& problem);

}  // namespace chipweave::solver
