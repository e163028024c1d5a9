// RequestContext — a request with everything else that a verdict about it depends on, and Answer:
// what one node can do for it.
#pragma once

#include <vector>

#include "common/solver/chips/machine.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/model/verdict.hpp"
#include "scheduler-plugin/state/ledger.hpp"

namespace chipweave::sched {

struct RequestContext {
  const PodRequest* pod = nullptr;
  bool distributed = false;
  int members = 1;                    // pods of its group that must fit together, itself included
  NodeId only = kNoNode;              // the node of its group, or of its binding in flight
  const Holding* part = nullptr;      // its fixed holding there
  const Decision* binding = nullptr;  // if it is being bound
  const Ledger::ByNode* of_job = nullptr;  // what pods of its job hold, itself included
  const Holding* own = nullptr;
};

struct Answer {
  Verdict verdict;
  ChipSet chips{};               // what the pod would get
  std::vector<ChipSet> parts{};  // of a group: the pod's own, then of those still to come
  solver::Request request{};     // input of the solver, repeated for explanations
};

}  // namespace chipweave::sched
