// GangSpares — places that a gang keeps free beside it, for pods that replace those of failed nodes
// and chips (GangMark::spares).
//
// Each has room for the gang's largest pod. They are placed after the gang, as near to it as there
// is room, and as many as there is room for, up to what operators allow a gang (set_most), since no
// quota counts them; they last as long as the gang's plan. A plan of pods
// of the gang counts their chips as free, and takes them if no other place is nearer; afterwards
// the spares are placed again. What failed is replaced. Owner: the loop thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/gang_planner.hpp"
#include "scheduler-plugin/app/gangs/preemption/kept_chips.hpp"
#include "scheduler-plugin/app/use_case.hpp"

namespace chipweave::sched {

class GangSpares : public UseCase {
 public:
  // Between attempts to place those for which there was no room.
  static constexpr std::chrono::seconds kRetry{30};

  GangSpares(Core& core, GangPlanner& planner) : UseCase(core), core_(core), planner_(planner) {}

  // The most that any gang may have; 0: none has.
  void set_most(int most) { most_ = most; }
  // How many the gang is to have.
  int wanted(const Gang& gang) const { return std::min(gang.spares, most_); }
  // The chips of its spares, for a plan of its pods.
  FreedOnNodes freed(const std::string& gang) const;
  // Whether place() may change something.
  bool is_due(const Gang& gang) const;
  // Reserves what the gang asks for beside its plan. Precondition: it has a plan, with the slots of
  // the layout.
  void place(const Gang& gang, const GangLayout& layout, const NodeSet& offered);
  // Gives them up.
  void end(const std::string& gang);
  void end_all();
  // Of gangs without a plan.
  void forget_gone();
  // Where they are, a seat a node.
  std::vector<GangSeat> seats(const std::string& gang) const;

 private:
  struct Spares {
    explicit Spares(Core& core) : kept(core.state.nodes, core.state.ledger, core.observer) {}
    KeptChips kept;
    int places = 0;
    Clock::Steady tried{};
  };
  GangPlacement beside(const Gang& gang, const GangLayout& layout, const NodeSet& offered);
  bool is_broken(const Spares& spares) const;

  Core& core_;
  GangPlanner& planner_;
  int most_ = 0;
  std::map<std::string, Spares, std::less<>> spares_;  // by gang
};

}  // namespace chipweave::sched
