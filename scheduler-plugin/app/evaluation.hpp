// Evaluation — the answer of one filter or prioritize call: for each node in the request,
// the index of its verdict. Reused by later calls, which invalidate views and references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/solver/chips/node_score.hpp"
#include "scheduler-plugin/app/verdict_table.hpp"

namespace chipweave::sched {

struct Evaluation {
  std::vector<NodeId> nodes;           // by position in the request; kNoNode: unknown
  std::vector<std::uint32_t> verdict;  // by position in the request
  std::span<const Verdict> verdicts;   // those with count 0 were given to no node
  std::size_t fits = 0;                // how many nodes
  std::uint32_t best = 0;              // verdict of the best node, if fits > 0
  NodeId best_node = kNoNode;          // kNoNode also if the pod requests no chips

  const Verdict& of(std::size_t position) const { return verdicts[verdict[position]]; }
  // 0..kBestScore, 0 if it does not fit.
  static constexpr int kBestScore = solver::kBestScore;
  int score(std::size_t position) const {
    const Verdict& v = of(position);
    if (!v.fits() || best_node == kNoNode) return 0;
    return nodes[position] == best_node ? kBestScore : v.level;
  }
};

}  // namespace chipweave::sched
