// Evaluation — the answer of one filter or prioritize call: for each node in the request,
// the index of its verdict. Reused by later calls, which invalidate views and references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/solver/nodes/node_score.hpp"
#include "scheduler-plugin/app/verdict_table.hpp"
#include "scheduler-plugin/model/decision.hpp"

namespace chipweave::sched {

struct Evaluation {
  std::vector<NodeId> nodes;           // by position in the request; kNoNode: unknown
  std::vector<std::uint32_t> verdict;  // by position in the request
  std::span<const Verdict> verdicts;   // those with count 0 were given to no node
  std::size_t fits = 0;                // how many nodes
  std::uint32_t best = 0;              // verdict of the best node, if fits > 0
  NodeId best_node = kNoNode;          // kNoNode also if the pod requests no chips
  solver::NodeOrder order;             // of the verdicts that fit

  Verdict refusal;  // of all nodes, if `verdicts` is that

  // The same verdict for all nodes.
  const Evaluation& refuse(const Verdict& why);
  const Verdict& of(std::size_t position) const { return verdicts[verdict[position]]; }
  // 0..kBestScore, 0 if it does not fit.
  static constexpr int kBestScore = solver::kBestScore;
  int score(std::size_t position) const {
    const Verdict& v = of(position);
    if (!v.fits()) return 0;
    const bool best_one = best_node != kNoNode && nodes[position] == best_node;
    return best_one ? kBestScore : v.level;
  }
};

// "inventory not received; not enough free chips". In alphabetical order and without numbers of
// nodes, so that the text stays the same while nodes come and go.
std::string rejection_summary(const Evaluation& evaluation);
// Why the other nodes are not the best one, best first. nodes: those that were evaluated.
std::vector<Considered> considered(const Evaluation& evaluation, const NodeTable& nodes);

}  // namespace chipweave::sched
