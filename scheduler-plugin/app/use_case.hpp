// Core — what the use cases work on: the state, and the scheduler's ways to the outside; and
// UseCase, the base of those that change the state. Owner: the loop thread.
#pragma once

#include "scheduler-plugin/app/authority.hpp"
#include "scheduler-plugin/app/gangs/gang_plans.hpp"
#include "scheduler-plugin/app/gangs/preemption/kept_chips.hpp"
#include "scheduler-plugin/app/groups.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/app/request_context.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/scheduler_state.hpp"

namespace chipweave::sched {

struct Core {
  Core(const Clock& the_clock, Cluster& the_cluster, Observer& the_observer)
      : clock(the_clock), cluster(the_cluster), observer(the_observer) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const Clock& clock;
  Cluster& cluster;
  Observer& observer;
  SchedulerState state;
  Authority authority{cluster};
  Groups groups{state.ledger, observer};
  GangPlans plans{state.ledger, observer};
  KeptChips kept{state.nodes, state.ledger, observer};        // for GangPreemption
  KeptChips first_kept{state.nodes, state.ledger, observer};  // for GangKeeping
  RequestContexts contexts{state, cluster, groups};
};

class UseCase {
 public:
  UseCase(const UseCase&) = delete;
  UseCase& operator=(const UseCase&) = delete;

 protected:
  explicit UseCase(Core& core)
      : state_(core.state),
        nodes_(core.state.nodes),
        records_(core.state.records),
        ledger_(core.state.ledger),
        clock_(core.clock),
        cluster_(core.cluster),
        observer_(core.observer),
        authority_(core.authority),
        groups_(core.groups),
        plans_(core.plans),
        kept_(core.kept),
        first_kept_(core.first_kept),
        contexts_(core.contexts) {}
  ~UseCase() = default;

  // Ends what the pod holds, bound or not; a part of a group is no longer the group's.
  // Precondition: it holds something.
  Holding drop_holding(const std::string& uid) {
    Holding held = *ledger_.find(uid);
    ledger_.drop(uid);
    if (!held.group.empty()) groups_.forget(held);
    return held;
  }

  SchedulerState& state_;
  NodeTable& nodes_;
  PodRecords& records_;
  Ledger& ledger_;
  const Clock& clock_;
  Cluster& cluster_;
  Observer& observer_;
  Authority& authority_;
  Groups& groups_;
  GangPlans& plans_;
  KeptChips& kept_;
  KeptChips& first_kept_;
  const RequestContexts& contexts_;
};

}  // namespace chipweave::sched
