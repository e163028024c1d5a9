// GangPlanner — places all pods of a gang at once: nodes and chips, on the nodes as they are now
// (common/solver/gang). It changes nothing.
//
// The fabric counts free chips only. What else limits the pods of a node is put on it for the time
// of one plan: nodes that were not offered or that the pods may not have, CPU and memory, and
// vendors' rules about chips. Cost: O(nodes) for these limits, then that of the solver. Owner: the
// loop thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/gang_layout.hpp"
#include "scheduler-plugin/app/gangs/planning/nodes/eligible_nodes.hpp"
#include "scheduler-plugin/app/gangs/planning/nodes/legal_pods.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

struct PlanProblem;
class SlotNodes;

// Where a pod of a gang is, or shall be.
struct GangSeat {
  NodeId node = kNoNode;
  ChipSet chips;
};

// What a plan may use of a node beside what is free there.
struct ToComeFree {
  ChipSet chips;      // unhealthy ones do not count
  solver::Room room;  // CPU and memory of the node by then
};
using FreedOnNodes = std::map<NodeId, ToComeFree>;

struct GangToPlan {
  const GangLayout* layout = nullptr;
  // Its slots by rank: the layout's, or those of its plan, which are as many.
  const std::vector<GangSlot>* slots = nullptr;
  // By slot: where its pod is and stays; nullopt: it needs a place. A seat without a node: its
  // place is not known.
  std::vector<std::optional<GangSeat>> seated;
  const NodeSet* offered = nullptr;       // null: all nodes
  const FreedOnNodes* to_come = nullptr;  // null: nothing
};

struct GangPlacement {
  bool fits = false;
  std::string reason;           // why it does not
  std::vector<GangSeat> seats;  // by slot: of those that needed one; no node: there was no room
  std::vector<int> domains;     // by level, how many are used
  std::optional<double> gbps;   // predicted, of the whole gang
  bool optimal = true;          // no plan uses fewer domains
  std::vector<NodeId> nodes() const;  // of the seats, ascending
};

class GangPlanner {
 public:
  GangPlanner(const NodeTable& nodes, Network& network, const NodeStandings& standings)
      : nodes_(nodes), network_(network), eligible_(nodes, standings) {}
  GangPlanner(const GangPlanner&) = delete;
  GangPlanner& operator=(const GangPlanner&) = delete;

  GangPlacement plan(const GangToPlan& gang);
  // False: there is no room by the numbers of chips, and CPU and memory, alone. Cost: O(nodes).
  bool may_fit(const GangToPlan& gang);
  // Whether all of it would fit if all healthy chips were free. Cost: a copy of the fabric, and a
  // plan without chips.
  bool fits_when_empty(const GangLayout& layout);
  // What a scheduler offers for the pod says nothing about nodes that only others of its gang may
  // have: adds those that it may not have itself. Cost: O(nodes).
  void add_nodes_of_others(const ClusterPod& pod, NodeSet& nodes);
  // Whether the pod may be on the node as far as the Node object says.
  bool may_run(const ClusterPod& pod, NodeId node) const {
    return eligible_.may_run(pod.nodes.get(), node);
  }

 private:
  void limit_nodes(PlanProblem& problem, const GangToPlan& asked, const SlotNodes& may);
  struct Capacity {
    ChipSet free;  // that a pod of a job with several can use
    solver::Room room;
  };
  static Capacity capacity_of(const Node& node, const ToComeFree* to_come);
  int most_pods(const Node& node, const Capacity& capacity, int chips, const solver::Room& needs,
                bool distributed);

  const NodeTable& nodes_;
  Network& network_;
  EligibleNodes eligible_;
  LegalPods legal_;
};

}  // namespace chipweave::sched
