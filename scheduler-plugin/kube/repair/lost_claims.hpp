// LostClaims — makes the claims of bound pods again that were ended under them, without which their
// containers cannot start and others could be given their devices.
//
// kube-controller-manager ends a claim if it takes the claim's pod for a former one of that name,
// as it does while its watch of the pods lags behind its watch of the claims (syncClaim in
// pkg/controller/resourceclaim of Kubernetes 1.36). Containers that run are not disturbed.
//
// Only pods whose status names a claim of chipweave's: others were never given one. Owner: the loop
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "scheduler-plugin/kube/dra/claim_allocator.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/pod_record.hpp"

namespace chipweave::sched {

class LostClaims {
 public:
  // All must outlive it.
  LostClaims(kube::Transport& transport, const ClaimWatch& watch, ClaimAllocator& claims,
             const Cluster& cluster, const NodeTable& nodes, const Clock& clock,
             const PodRecords& records)
      : transport_(transport),
        watch_(watch),
        claims_(claims),
        cluster_(cluster),
        nodes_(nodes),
        clock_(clock),
        records_(records) {}

  // Looks at some of the pods, in turn. Call it several times a second while this replica leads.
  // may_send: whether it still does. Cost: O(log pods) for each of 200 pods.
  void check(const std::function<bool()>& may_send);
  std::uint64_t made_again() const { return made_again_; }

 private:
  // Whether the pod should have a claim and none is known.
  bool lacks_claim(const PodRecord& record) const;
  // Whether to go on looking.
  bool look_at(const PodRecord& record, const std::function<bool()>& may_send);
  void read(const PodRecord& record, const std::function<bool()>& may_send);
  // Errors: unavailable, if the pod cannot be read; others: it needs no claim, or was given none.
  Result<BindOrder> order_of(const PodKey& key, const std::string& uid, Result<kube::Reply> reply);
  void make(const BindOrder& order, const std::function<bool()>& may_send);
  void made(const Binding& of, const Result<void>& result);
  // Nothing is done about that pod for so long.
  void look_later(const std::string& uid, std::chrono::seconds after);

  kube::Transport& transport_;
  const ClaimWatch& watch_;
  ClaimAllocator& claims_;
  const Cluster& cluster_;
  const NodeTable& nodes_;
  const Clock& clock_;
  const PodRecords& records_;
  std::string last_;                              // uid of the pod that check() saw last
  std::map<std::string, Clock::Steady> missing_;  // when to do something about it, by pod's uid
  bool busy_ = false;
  codec::WatchReader<codec::KubePod> reader_;
  std::unique_ptr<kube::Ticket> ticket_;
  std::uint64_t made_again_ = 0;
};

}  // namespace chipweave::sched
