// LeftoverClaims — ends the claims of pods that are not bound after all: of bindings that a killed
// scheduler has begun, or whose failure could not be undone at once.
//
// Claims of pods that are gone end with these, by kube-controller-manager. It misses some: those
// that were allocated while it saw neither. They are ended after a minute.
//
// Only the leader ends claims, and only after the pod was read: a binding by the previous leader
// may be newer than what the watch has delivered. Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "scheduler-plugin/kube/dra/claim_allocator.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/pod_record.hpp"

namespace chipweave::sched {

class LeftoverClaims {
 public:
  // All must outlive it.
  LeftoverClaims(ClaimWatch& watch, ClaimAllocator& claims, Cluster& cluster, const Clock& clock,
                 const PodRecords& records)
      : watch_(watch), claims_(claims), cluster_(cluster), clock_(clock), records_(records) {}

  // Ends the next one, if there is any and none is being ended. Call it several times a second
  // while this replica leads. may_send: whether it still does.
  void check(const std::function<bool()>& may_send);
  std::uint64_t ended() const { return ended_; }

 private:
  // The pod that such a claim waits for; null: it is bound, being bound or gone.
  const ClusterPod* unbound(const std::string& uid) const;
  ClaimWatch::Use use_of(const ClaimOfPod& claim, std::map<std::string, Clock::Steady>& unknown);
  // Whether the pod, as it was just read, needs the claim no more.
  bool is_left(const ClaimOfPod& claim) const;
  void end(const ClaimOfPod& leftover, const std::function<bool()>& may_send);
  void over(const ClaimOfPod& leftover);

  ClaimWatch& watch_;
  ClaimAllocator& claims_;
  Cluster& cluster_;
  const Clock& clock_;
  const PodRecords& records_;
  std::map<std::string, Clock::Steady> unknown_;  // pods that are not known, since when, by uid
  bool busy_ = false;
  Clock::Steady next_{};  // after one that could not be ended
  std::unique_ptr<kube::Ticket> ticket_;
  std::uint64_t ended_ = 0;
};

}  // namespace chipweave::sched
