// ClaimAllocator — the ResourceClaims by which the chips of pods are handed over (M2 in
// docs/concepts/who-enforces.md): from a bind order to devices, and to the API server.
//
// Devices of a pod that has just ended stay in its claim for a moment, and its claim may even be
// allocated after its end was seen; their next owner waits until neither is the case. Owner: the
// loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.hpp"
#include "common/kube/pod_claims.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/kube/dra/claim_watch.hpp"
#include "scheduler-plugin/kube/dra/taken_claims.hpp"
#include "scheduler-plugin/kube/dra/turns.hpp"
#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class ClaimAllocator {
 public:
  // All must outlive it. device_class: of the claims; nothing else may be allocated from it.
  ClaimAllocator(kube::Transport& transport, const Clock& clock, const NodeTable& nodes,
                 ClaimWatch& watch, std::string device_class);
  ~ClaimAllocator();
  ClaimAllocator(const ClaimAllocator&) = delete;
  ClaimAllocator& operator=(const ClaimAllocator&) = delete;

  // Which claim the order needs. Precondition: it has one. Errors: conflict, if the node's devices
  // are not ours to give away, or too many.
  Result<codec::PodClaim> claim_of(const BindOrder& order) const;

  // Whatever allocates or ends the claim of a pod takes it first and gives it back afterwards: an
  // earlier attempt that fails late would end the allocation of a later one. False: it is
  // taken.
  bool take(const std::string& pod_uid) { return taken_->add(pod_uid); }
  void give_back(const std::string& pod_uid) { taken_->remove(pod_uid); }

  // As in common/kube/pod_claims; a limited number run at once. Precondition: it was taken.
  std::unique_ptr<kube::Ticket> allocate(const codec::PodClaim& claim,
                                         std::function<bool()> may_send, Done done);
  std::unique_ptr<kube::Ticket> end(const codec::PodClaim& claim, std::function<bool()> may_send,
                                    Done done);

 private:
  kube::Transport& transport_;
  const Clock& clock_;
  const NodeTable& nodes_;
  ClaimWatch& watch_;
  std::string device_class_;
  std::shared_ptr<Turns> turns_;
  std::shared_ptr<TakenClaims> taken_;
};

}  // namespace chipweave::sched
