// Preemption — which pods must end for a pod to fit on a node. Changes nothing. Owner: the loop
// thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/evaluator.hpp"

namespace chipweave::sched {

class Preemption {
 public:
  Preemption(const Core& core, const Evaluator& evaluator)
      : nodes_(core.state.nodes),
        ledger_(core.state.ledger),
        cluster_(core.cluster),
        evaluator_(evaluator) {}
  Preemption(const Preemption&) = delete;
  Preemption& operator=(const Preemption&) = delete;

  // Whether the pod would fit on the node once the pods that were deleted there are gone.
  bool fits_when_ended(const PodRequest& pod, std::string_view node) const;
  // Which of the proposed victims (uids) must end for the pod to fit on the node: the fewest, then
  // those of lowest priority. Victims without chips there stay on the list, since they were chosen
  // for other reasons. Empty: all of them are not enough.
  std::vector<std::string> choose_victims(const PodRequest& pod, std::string_view node,
                                          std::span<const std::string> offered) const;

 private:
  bool fits_without(const PodRequest& pod, std::string_view node,
                    std::span<const std::string> victims) const;
  int priority_of(const Holding& holding) const;

  const NodeTable& nodes_;
  const Ledger& ledger_;
  const Cluster& cluster_;
  const Evaluator& evaluator_;
};

}  // namespace chipweave::sched
