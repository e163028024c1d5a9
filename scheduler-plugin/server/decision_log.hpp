// DecisionLog — writes bindings, failed ones, and contradictions in the cluster to the log. Owner:
// the loop thread.
#pragma once

#include <string_view>
#include <vector>

#include "scheduler-plugin/app/observer.hpp"

namespace chipweave::sched {

class DecisionLog final : public NullObserver {
 public:
  void bound(const BoundPod& pod) override;
  void bind_failed(const Binding& binding, const Error& error) override;
  void disputed(const PodKey& pod, std::string_view node, const std::vector<int>& chips) override;
  void unaccounted(const PodKey& pod, std::string_view node) override;
};

}  // namespace chipweave::sched
