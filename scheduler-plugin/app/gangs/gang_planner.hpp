// GangPlanner — places all pods of a gang at once: nodes, chips and the order of ranks, on the
// nodes as they are now (common/solver/gang). It changes nothing.
//
// The fabric counts free chips only. What else limits the pods of a node is put on it for the time
// of one plan: nodes that were not offered, CPU and memory, and vendors' rules about chips. Cost:
// O(nodes) for these limits, then that of the solver. Owner: the loop thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/chips/node_machine.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/network/network.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

// A pod that needs a place.
struct PodToPlan {
  int chips = 0;
  solver::Room needs;
};

// A pod of the gang that has its place already.
struct PlacedBefore {
  NodeId node = kNoNode;
  ChipSet chips;
  int rank = 0;
};

struct GangToPlan {
  std::string resource;
  std::vector<PodToPlan> pods;       // in the order of their ranks
  std::vector<PlacedBefore> placed;  // these stay
  int minimum = 0;                   // fewer must not run, those in `placed` included
  domain::Objective objective = domain::Objective::bandwidth;
  const NodeSet* offered = nullptr;  // null: all nodes
};

struct GangPlacement {
  bool fits = false;
  std::string reason;  // why it does not
  struct Place {
    NodeId node = kNoNode;  // kNoNode: there was no room for this one
    ChipSet chips;
  };
  std::vector<Place> pods;   // by position in GangToPlan::pods
  std::vector<int> domains;  // by level, how many are used
  std::optional<double> gbps;
  bool optimal = true;  // no plan uses fewer domains
};

class GangPlanner {
 public:
  GangPlanner(const NodeTable& nodes, Network& network) : nodes_(nodes), network_(network) {}
  GangPlanner(const GangPlanner&) = delete;
  GangPlanner& operator=(const GangPlanner&) = delete;

  GangPlacement plan(const GangToPlan& gang);

 private:
  struct Limits;
  domain::Gang lay_out(const GangToPlan& asked, Limits& limits, solver::NodeMachines& machines,
                       std::vector<NodeId>& ids);
  int most_pods(const Node& node, ChipSet free, const PodToPlan& pod, bool distributed);

  const NodeTable& nodes_;
  Network& network_;
  // How many pods of so many chips have legal chips together, by machine and free chips.
  std::map<std::tuple<const solver::Machine*, std::uint64_t, int, bool>, int> legal_;
};

}  // namespace chipweave::sched
