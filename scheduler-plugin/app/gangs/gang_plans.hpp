// GangPlans — the plans of gangs, and the chips that are reserved for them.
//
// A plan has a slot for each pod of its gang, in the order of their ranks. A slot's chips are a
// holding in the ledger: its pod's, or, as long as that has not come, a spare one. It belongs to
// role and index where the framework numbers its pods, so that a replacement takes the slot of the
// pod that it replaces; else to the first pod of its size that comes. A slot that holds nothing any
// more (its node's chips went, its pod is gone) has to be planned again. A plan ends with its gang,
// or with the last slot that a pod has. Owner: the loop thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/gang_layout.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/ledger.hpp"

namespace chipweave::sched {

struct GangPlan {
  std::string id;    // of the plan, "3f2a91c0"
  std::string gang;  // of the gang, GangTable's
  std::string ns;
  std::string framework;
  std::string name;
  std::vector<GangSlot> slots;  // by rank
  std::vector<int> domains;     // by level of the network, how many it uses
  std::optional<double> gbps;   // predicted, of the whole gang
  bool optimal = true;
  Clock::Steady made{};
  std::uint64_t version = 0;  // rises whenever a slot gets a pod, or another place
};

class GangPlans {
 public:
  // How long chips are reserved for pods that are not bound. Pods that come late (one after the
  // other, images to pull) must make it in that time.
  static constexpr std::chrono::minutes kLifetime{10};

  GangPlans(Ledger& ledger, Observer& observer) : ledger_(ledger), observer_(observer) {}
  GangPlans(const GangPlans&) = delete;
  GangPlans& operator=(const GangPlans&) = delete;

  // Null: none.
  const GangPlan* find(std::string_view gang) const;
  // The slot of a pod; null: none.
  struct Where {
    const GangPlan* plan = nullptr;
    const GangSlot* slot = nullptr;
    int rank() const { return static_cast<int>(slot - plan->slots.data()); }
  };
  Where of(std::string_view uid) const;
  // Whether the holding is a pod's, by a plan that has not ended: a step-down ends plans while pods
  // are being bound.
  bool keep(const Holding& holding) const {
    return holding.planned && slots_.contains(holding.uid);
  }
  // What is held for the slot; null: nothing, it has to be planned again.
  const Holding* holding_of(const GangSlot& slot) const;
  // The slot of the pod in the plan of its gang, which is its own from now on, with what is held
  // for it. Null: there is no plan, or no slot for this pod is left.
  Where assign(const PodRequest& pod, const std::string& gang);

  // What is reserved on the node for other pods that could have this pod's slot as well: of the
  // same plan, role and size, and not being bound. Cost: O(holdings on the node).
  std::vector<const Holding*> alike_on(std::string_view uid, NodeId node) const;
  // The two pods change slots, and so what is reserved for them. Preconditions: both have one that
  // holds chips, in one plan, and neither is being bound.
  void exchange(const std::string& a, const std::string& b);

  // Begins a plan without slots. Precondition: the gang has none.
  void begin(GangPlan plan);
  // The slots of the gang's plan from now on. What is reserved stays where a slot has the same pod,
  // or where its pod is to come and had a slot of the same role, index and size; else it ends.
  void set_slots(const std::string& gang, std::vector<GangSlot> slots);
  // A new result for the plan: what is reserved lasts from now on.
  void renew(const std::string& gang, const GangPlan& result);
  // Reserves the chips for a slot that holds nothing, for this pod or, if that is null, one that is
  // to come. Preconditions: the chips are free, and the pod has the slot and holds nothing.
  void hold(const std::string& gang, std::size_t slot, NodeId node, ChipSet chips,
            const PodRequest* pod);

  // The pod is gone, or no longer waits for what is reserved for it: that is kept for the pod that
  // replaces it.
  void leave(std::string_view uid);
  // What is reserved for the pod ends; its slot has to be planned again.
  void lose(std::string_view uid);
  // Ends what is reserved for pods that are not bound. The plan ends unless one is.
  void release(const std::string& gang);
  void end_all();
  // The gangs whose reservations are to end.
  std::vector<std::string> due(Clock::Steady now) const;
  // When what is reserved for the slot of this pod ends. Precondition: it has one.
  Clock::Steady expiry(std::string_view uid) const;

  const std::map<std::string, GangPlan, std::less<>>& all() const { return plans_; }
  // "" if all invariants hold, else the first violation.
  std::string check_invariants() const;

 private:
  using Map = std::map<std::string, GangPlan, std::less<>>;
  struct At {
    std::string gang;
    std::size_t slot = 0;
  };
  Clock::Steady expiry_of(const GangPlan& plan, std::size_t slot) const;
  void drop(const std::string& holding);
  bool drop_unbound(GangPlan& plan);
  void forget_pods(const GangPlan& plan);

  Ledger& ledger_;
  Observer& observer_;
  Map plans_;                                     // by gang
  std::map<std::string, At, std::less<>> slots_;  // by uid of their pods
  std::uint64_t spares_named_ = 0;
};

}  // namespace chipweave::sched
