// DecisionLog — writes bindings, failed ones, and contradictions in the cluster to the log. Owner:
// the loop thread.
#pragma once

#include "scheduler-plugin/app/observer.hpp"

namespace chipweave::sched {

class DecisionLog final : public Observer {
 public:
  void on(const Observation& seen) override;
};

}  // namespace chipweave::sched
