// GangPlaces — which pods get their places by a plan of their gang, and whether these places can
// still be used: what is the same for all schedulers, whether they ask for a pod with many nodes
// (Gangs) or for one node at a time (GangSessions). Owner: the loop thread.
#pragma once

#include "scheduler-plugin/app/gangs/gang_restore.hpp"
#include "scheduler-plugin/app/gangs/planning/gang_planning.hpp"
#include "scheduler-plugin/app/gangs/planning/nodes/offered_nodes.hpp"
#include "scheduler-plugin/app/reservations.hpp"

namespace chipweave::sched {

class GangPlaces : public UseCase {
 public:
  GangPlaces(Core& core, Reservations& reservations)
      : UseCase(core),
        planning_(core, reservations),
        restored_(core, planning_, reservations),
        offers_(core.state.nodes, core.state.network) {}

  // Off: pods of gangs are placed one by one.
  void set_on(bool on) { on_ = on; }
  bool on() const { return on_; }
  // Whether it is planned as a whole: of those that kube-scheduler tries in one domain after the
  // other only where the network has these domains.
  bool plans(const Gang& gang) const { return gang.quorum() > 0 && offers_.known(gang); }
  // Whether the pod may belong to such a gang, as far as it says itself / belongs to one.
  bool may_plan_for(const PodRequest& pod) const;
  bool plans_for(const PodRequest& pod) const;

  bool is_usable(const Holding& held) const;
  // Pods that are not bound lose places that are not offered, that they may not have, or that
  // cannot be used. False: none does. Cost: O(pods).
  bool lose_unusable(const Gang& gang, const NodeSet& offered);

  GangPlanning& planning() { return planning_; }
  const GangPlanning& planning() const { return planning_; }
  GangRestore& restored() { return restored_; }
  OfferedNodes& offers() { return offers_; }

 private:
  GangPlanning planning_;
  GangRestore restored_;
  OfferedNodes offers_;
  bool on_ = true;
};

}  // namespace chipweave::sched
