// ClaimWatch — chips that are allocated through DRA ResourceClaims and must not be given to pods.
//
// A claim names devices in a driver's pool, which is named after its node, but not our chips. Only
// their number is known, so a claim counts like a pod of another scheduler (Reconciler::pod_added).
// Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/kube/reflector.hpp"
#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

class ClaimWatch {
 public:
  struct Events {
    std::function<void()> known;                            // each time known() may have changed
    std::function<void(const kube::WatchFailure&)> failed;  // the watch retries after it
  };
  ClaimWatch(kube::Transport& transport, ClusterListener& listener, Events events,
             std::function<double()> jitter);

  void start() { claims_watch_.start(); }
  // Whether all claims were listed once, or the API server does not serve ResourceClaims.
  bool known() const { return no_api_ || claims_watch_.synced(); }

 private:
  void take(const codec::KubeClaim& claim);
  void drop(const std::string& key);
  void failed(const kube::WatchFailure& failure);

  ClusterListener& listener_;
  Events events_;
  bool no_api_ = false;
  std::map<std::string, std::vector<ClusterPod>> held_;  // by claim: its devices, on one node each
  kube::Reflector<codec::KubeClaim> claims_watch_;
};

}  // namespace chipweave::sched
