// VictimChoice — answers one preempt request node by node, so that other tasks run in between.
//
// What was chosen for one node stays, even if the state changes until the last: kube-scheduler's
// own choice is older still, and the filter decides after the victims are gone. Owner: the loop
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler-plugin/app/authority.hpp"
#include "scheduler-plugin/app/nominations.hpp"
#include "scheduler-plugin/app/preemption.hpp"

namespace chipweave::sched {

class VictimChoice {
 public:
  // nodes: each with the victims that kube-scheduler proposes. The use cases must outlive it.
  VictimChoice(const Preemption& preemption, Nominations& nominations, const Authority& authority,
               PodRequest pod, std::optional<int> priority, std::vector<ProposedVictims> nodes);

  // The victims on one node; uids empty: there are none to choose.
  struct Chosen {
    std::size_t position = 0;  // of the node in the request
    ProposedVictims victims;
    // How many of them kube-scheduler did not propose, so that it has checked no disruption budget
    // for them.
    std::int64_t unchecked = 0;
  };
  // The next node. None after the last, or once another replica decides: what was chosen is then
  // kept for the pod's nomination, and there must be no further call.
  std::optional<Chosen> next();

 private:
  const Preemption& preemption_;
  Nominations& nominations_;
  const Authority& authority_;
  PodRequest pod_;
  std::optional<int> priority_;
  std::vector<ProposedVictims> nodes_;
  std::size_t next_ = 0;
  Preemption::Budget budget_;
  std::vector<ProposedVictims> chosen_;
};

}  // namespace chipweave::sched
