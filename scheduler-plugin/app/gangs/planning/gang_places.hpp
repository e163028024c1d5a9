// GangPlaces — which pods get their places by a plan of their gang, and whether these places can
// still be used: what is the same for all schedulers, whether they ask for a pod with many nodes
// (Gangs) or for one node at a time (GangSessions). Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

  // Frameworks whose owner objects are watched.
  void await_owners(std::vector<std::string> frameworks) { awaited_ = std::move(frameworks); }
  // The pods of a gang may come before the watch shows the object that says how many there are: for
  // kOwnerComes they are not placed one by one. Cost: O(log gangs + frameworks).
  std::optional<Verdict> wait_for_owner(const PodRequest& pod);
  void owner_came(const std::string& gang);
  // Pods that have waited for so long are placed; call it about every second.
  void tick();

  bool is_usable(const Holding& held) const;
  // Pods that are not bound lose places that are not offered, that they may not have, or that
  // cannot be used. False: none does. Cost: O(pods).
  bool lose_unusable(const Gang& gang, const NodeSet& offered);

  GangPlanning& planning() { return planning_; }
  const GangPlanning& planning() const { return planning_; }
  GangRestore& restored() { return restored_; }
  OfferedNodes& offers() { return offers_; }

 private:
  static constexpr std::chrono::seconds kOwnerComes{10};
  static constexpr std::size_t kMaxWaiting = 10'000;
  struct OwnerAwaited {
    Clock::Steady since{};
    bool over = false;
  };
  GangPlanning planning_;
  GangRestore restored_;
  OfferedNodes offers_;
  std::vector<std::string> awaited_;                          // frameworks
  std::map<std::string, OwnerAwaited, std::less<>> waiting_;  // by gang
  bool on_ = true;
};

}  // namespace chipweave::sched
