// BindPermission — which pods a caller of bind may bind with our rights.
//
// Those that it was answered for: kube-scheduler asks about a pod before it binds it. With a list
// of scheduler names also every pod that requests chips and names one of them, and no pod that
// names another. What callers were answered is forgotten with the leadership; kube-scheduler then
// begins again with filter. Callers without a name (standalone on loopback) are bound by the list
// alone. Owner: the loop thread.
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

class BindPermission {
 public:
  // An answer counts for one to two generations: kube-scheduler may wait ten minutes for volumes
  // between filter and bind.
  static constexpr std::chrono::minutes kGeneration{10};
  static constexpr std::size_t kMaxPodsOfGeneration = 32'768;

  BindPermission(const Clock& clock, std::vector<std::string> scheduler_names)
      : clock_(clock), listed_(std::move(scheduler_names)) {}

  // A filter or prioritize of the caller was answered for the pod with this uid.
  void answered(const std::string& caller, const std::string& uid);
  // Precondition: the pod is not bound. Errors: conflict.
  Result<void> check(const std::string& caller, const ClusterPod& pod) const;
  void bound(const std::string& uid);
  // Another replica answers from now on.
  void forget();

 private:
  using Callers = std::unordered_map<std::string, std::string>;  // by uid

  bool was_answered(const std::string& caller, const std::string& uid) const;

  const Clock& clock_;
  std::vector<std::string> listed_;
  Callers recent_;         // who was answered last
  Callers older_;          // the generation before
  Clock::Steady since_{};  // begin of recent_
};

}  // namespace chipweave::sched
