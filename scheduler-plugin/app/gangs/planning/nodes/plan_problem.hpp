// PlanProblem — what the solver gets for one plan: the pods that need a place as one gang, and
// limits of nodes that the fabric does not have by itself. These are put on it and taken back when
// the problem ends.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/chips/node_machine.hpp"
#include "scheduler-plugin/app/gangs/planning/gang_planner.hpp"
#include "scheduler-plugin/app/gangs/planning/nodes/slot_nodes.hpp"
#include "scheduler-plugin/state/network/resource_fabric.hpp"

namespace chipweave::sched {

struct PlanProblem {
  explicit PlanProblem(ResourceFabric& of) : resource(of), fabric(of.fabric()) {}
  PlanProblem(const PlanProblem&) = delete;
  PlanProblem& operator=(const PlanProblem&) = delete;
  ~PlanProblem();

  // The gang of this request: pods that have a seat are running ones.
  void take(const GangToPlan& asked, const NodeTable& nodes);
  void leave_out(solver::FabricNodeId node);
  // The node has so many chips free, for the time of the plan.
  void raise(solver::FabricNodeId node, int chips);
  // Pods that may not have all nodes that others may.
  void keep_apart(const SlotNodes& may);

  const ResourceFabric& resource;
  solver::Fabric& fabric;
  domain::Gang gang;
  std::vector<std::size_t> open;  // slots of the pods to place, in their order
  solver::NodeMachines machines;  // that may hold pods of the gang
  std::size_t barred = 0;         // nodes that are left out because its pods may not run there

 private:
  int split(int pods, domain::PodSet* set, const GangToPlan& asked, const NodeTable& nodes);

  std::vector<solver::FabricNodeId> left_out_;
  std::vector<std::pair<solver::FabricNodeId, int>> raised_;  // with what was free before
  std::vector<int> sizes_;                                    // chips of the open ones
  std::size_t slot_ = 0;
  int unknown_ = 0;  // running pods whose place is not known
};

}  // namespace chipweave::sched
