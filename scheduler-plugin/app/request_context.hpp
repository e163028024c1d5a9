// RequestContext — a request with everything else that a verdict about it depends on besides the
// nodes; RequestContexts, which collects that from the state; and Answer: what one node can do for
// the request.
#pragma once

#include <vector>

#include "common/solver/chips/machine.hpp"
#include "scheduler-plugin/app/groups.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/model/verdict.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/scheduler_state.hpp"

namespace chipweave::sched {

struct RequestContext {
  const PodRequest* pod = nullptr;
  bool distributed = false;
  int members = 1;                    // pods of its group that must fit together, itself included
  NodeId only = kNoNode;              // the node of its group, or of its binding in flight
  const Holding* part = nullptr;      // its fixed holding there
  const GroupPlan* plan = nullptr;    // of the group that the part belongs to
  const Decision* binding = nullptr;  // if it is being bound
  const Ledger::ByNode* of_job = nullptr;  // what pods of its job hold, itself included
  const Holding* own = nullptr;
  // In a session: nodes beside `only` where it may change places with another pod of its gang,
  // ascending. Null: none.
  const std::vector<NodeId>* alike = nullptr;

  // Its place is fixed by the plan of its gang.
  bool planned() const { return part != nullptr && part->planned; }
  bool may_change_to(NodeId node) const;
  // What a node other than `only` is for the pod.
  Verdict elsewhere(NodeId node) const;
};

// Changes nothing. Owner: the loop thread.
class RequestContexts {
 public:
  RequestContexts(const SchedulerState& state, const Cluster& cluster, const Groups& groups)
      : state_(state), cluster_(cluster), groups_(groups) {}

  // part: the fixed holding of the pod; null if it has none. Valid until the state changes.
  RequestContext of(const PodRequest& pod, const Holding* part) const;

 private:
  const SchedulerState& state_;
  const Cluster& cluster_;
  const Groups& groups_;
};

// The chips of the fixed holding with what was planned or decided about them.
GroupPlan plan_of(const RequestContext& context, const Node& node, ChipSet beside);

struct Answer {
  Verdict verdict;
  ChipSet chips{};               // what the pod would get
  std::vector<ChipSet> parts{};  // of a group: the pod's own, then of those still to come
  solver::Request request{};     // input of the solver, repeated for explanations
};

}  // namespace chipweave::sched
