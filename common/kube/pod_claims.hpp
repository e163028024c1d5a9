// Claims for the chips of pods that request extended resources (codec::PodClaim): allocated before
// the pod is bound, ended when it is not bound after all.
//
// Both are idempotent and heal what an attempt that was killed has left: the claim's name follows
// from the pod's uid, so it is found again. Neither binds the pod. Owner: the loop thread. No
// callback after the ticket is destroyed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/codec/kube/objects/pod_claim.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct AllocateRequest {
  codec::PodClaim claim;
  std::string time;  // RFC 3339, of the allocation
  // Called right before each write; if it returns false, nothing more is written. May be empty.
  std::function<bool()> may_send{};
  // The claim each time that the API server has shown it: a watch may lag behind. May be empty.
  std::function<void(codec::KubeClaim)> shown{};
};

// Makes the claim, allocates and reserves it, and names it in the pod's status. A claim of that pod
// with other devices is allocated again. ok: the API server has stored all of it. Errors: not_found
// (no such pod); conflict (another uid; a claim of that name that is not the pod's);
// invalid_argument (refused as malformed or forbidden); not_sent (not done in time, or called off).
std::unique_ptr<Ticket> allocate_claim(Transport& transport, AllocateRequest request,
                                       std::function<void(Result<void>)> done);

// Ends the allocation of the pod's claim and deletes it; may_send as above. ok: it is gone, or
// being deleted. Errors: invalid_argument (refused), unavailable (not known in time).
std::unique_ptr<Ticket> end_claim(Transport& transport, codec::PodClaim claim,
                                  std::function<bool()> may_send,
                                  std::function<void(Result<void>)> done);

}  // namespace chipweave::kube
