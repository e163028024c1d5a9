// Decisions — makes and numbers the decisions about pods that are bound. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler-plugin/app/evaluator.hpp"
#include "scheduler-plugin/app/use_case.hpp"
#include "scheduler-plugin/state/scheduler_state.hpp"

namespace chipweave::sched {

class Decisions {
 public:
  explicit Decisions(Core& core)
      : state_(core.state),
        clock_(core.clock),
        authority_(core.authority),
        groups_(core.groups),
        plans_(core.plans),
        contexts_(core.contexts) {}
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;

  // The pod gets the chips of the holding.
  Decision make(const PodRequest& pod, const Holding& holding);
  // What make() would answer.
  Decision preview(const PodRequest& pod, const Holding& holding) const;
  // Decides about a pod that is to be bound: its reservation becomes a binding in flight.
  // Precondition: it has a reservation on the binding's node.
  PodRecord& begin(const Binding& binding, const PodRequest& pod);
  // Gives a decision the pod's place in its gang, if that was planned since; nothing for a binding
  // that was sent.
  void update_place(InFlightBinding& in_flight) const;
  // Numbering continues after this decision ("d-000123"), which was made before a restart.
  void continue_after(std::string_view id);
  PlacedPod placed_pod_of(const Decision& decision) const;

 private:
  // Null: it is in no plan.
  std::shared_ptr<const GangPlace> gang_place(const std::string& uid, const Node& node) const;
  Decision numbered(const PodRequest& pod, const Holding& holding, std::uint64_t number) const;

  SchedulerState& state_;
  const Clock& clock_;
  const Authority& authority_;
  const Groups& groups_;
  const GangPlans& plans_;
  const RequestContexts& contexts_;
  std::uint64_t count_ = 0;
};

}  // namespace chipweave::sched
