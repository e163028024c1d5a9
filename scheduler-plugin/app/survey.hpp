// Survey — the answer of one filter or prioritize call: a verdict for each distinct node state, and for each asked node
// the number of its verdict. Reused from call to call; views and references die with the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/solver/machine.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

struct Verdict {
  Cause cause = Cause::none;  // none: it fits
  bool never = false;         // no change of load or health would make it fit
  std::string reason;         // in words; the same for the same cause on every node
  ChipSet chips;              // what the pod would get
  std::vector<ChipSet> parts;  // of a group: by member, the pod's own first
  solver::Request request;    // what the solver was asked (explanations repeat it)
  double gbps = 0;
  double best_gbps = 0;
  int left_over = 0;
  int level = 0;               // score of a node that is not the best
  std::size_t count = 0;       // nodes that got it
  NodeId first = kNoNode;      // the first of them in natural name order
  std::uint32_t first_order = 0;

  bool fits() const { return cause == Cause::none; }
};

struct Survey {
  std::vector<NodeId> nodes;            // by position in the request; kNoNode: unknown
  std::vector<std::uint32_t> verdict;   // by position in the request
  std::vector<Verdict> verdicts;
  std::size_t fits = 0;                 // how many nodes
  std::uint32_t best = 0;               // verdict of the best node, if fits > 0
  NodeId best_node = kNoNode;           // kNoNode also when the pod asks for no chips

  const Verdict& of(std::size_t position) const { return verdicts[verdict[position]]; }
  // 0..10, 0 where it does not fit.
  int score(std::size_t position) const {
    const Verdict& v = of(position);
    if (!v.fits() || best_node == kNoNode) return 0;
    return nodes[position] == best_node ? 10 : v.level;
  }
};

}  // namespace chipweave::sched
