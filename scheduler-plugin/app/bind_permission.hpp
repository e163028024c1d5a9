// BindPermission — which pods a caller of bind may bind with our rights.
//
// Pods that request chips, if the caller schedules them: their spec.schedulerName is in the list of
// the settings or, without a list, is the one of a pod that the caller has asked about. Other pods
// only if the caller was answered for this very pod: without managedResources kube-scheduler asks
// about every pod and leaves the bind to us. All of this is forgotten with the leadership; until
// a caller asks again it may bind pods with chips, because another replica answered it. Callers
// without a name (loopback) are bound by the list alone. Owner: the loop thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

class BindPermission {
 public:
  // For pods without chips. An answer counts for one to two generations: kube-scheduler may wait
  // ten minutes for volumes between filter and bind.
  static constexpr std::chrono::minutes kGeneration{10};
  static constexpr std::size_t kMaxPodsOfGeneration = 16'384;
  static constexpr std::size_t kMaxLearned = 256;  // pairs of caller and scheduler name

  // scheduler_names: empty: they are learned.
  BindPermission(const Clock& clock, std::vector<std::string> scheduler_names)
      : clock_(clock), listed_(std::move(scheduler_names)) {}

  // A filter or prioritize of the caller was answered. known: the cluster's pod; null if the
  // cluster does not have it.
  void answered(const std::string& caller, const PodRequest& asked, const ClusterPod* known);
  // Precondition: the pod is not bound. Errors: conflict.
  Result<void> check(const std::string& caller, const ClusterPod& pod) const;
  void bound(const std::string& uid);
  // Another replica answers from now on.
  void forget();

 private:
  using Callers = std::unordered_map<std::string, std::string>;  // by uid

  void learn(const std::string& caller, const std::string& scheduler);
  bool has_learned(const std::string& caller) const;
  bool may_schedule(const std::string& caller, const std::string& scheduler) const;
  bool was_answered(const std::string& caller, const std::string& uid) const;

  const Clock& clock_;
  std::vector<std::string> listed_;
  std::vector<std::pair<std::string, std::string>> learned_;  // caller, scheduler; newest last
  Callers recent_;         // who was answered last for a pod without chips
  Callers older_;          // the generation before
  Clock::Steady since_{};  // begin of recent_
};

}  // namespace chipweave::sched
