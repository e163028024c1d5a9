#include "scheduler-plugin/kube/dra/leftover_claims.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::seconds kAgain{2};

}  // namespace

const ClusterPod* LeftoverClaims::unbound(const std::string& uid) const {
  const PodRecord* record = records_.find(uid);
  if (record == nullptr || record->in_flight != nullptr) return nullptr;
  const ClusterPod* pod = cluster_.find(record->key);
  return pod != nullptr && pod->request.uid == uid && pod->node.empty() ? pod : nullptr;
}

void LeftoverClaims::check(const std::function<bool()>& may_send) {
  if (busy_ || clock_.now() < next_) return;
  ticket_.reset();
  const auto leftover = watch_.next_unsettled([this](const ClaimOfPod& claim) {
    const PodRecord* record = records_.find(claim.pod_uid);
    // one whose pod is gone ends with it; the pod may not be known yet
    if (record == nullptr || record->in_flight != nullptr) return ClaimWatch::Use::unknown;
    return unbound(claim.pod_uid) == nullptr ? ClaimWatch::Use::used : ClaimWatch::Use::leftover;
  });
  if (!leftover || !claims_.take(leftover->pod_uid)) return;
  busy_ = true;
  const PodKey key = records_.find(leftover->pod_uid)->key;
  cluster_.refresh(key, [this, leftover = *leftover, may_send](const Result<void>& read) {
    if (read && unbound(leftover.pod_uid) != nullptr) return end(leftover, may_send);
    over(leftover);
    next_ = clock_.now() + kAgain;
  });
}

void LeftoverClaims::end(const ClaimOfPod& leftover, const std::function<bool()>& may_send) {
  codec::PodClaim claim;
  claim.ns = leftover.ns;
  claim.pod = records_.find(leftover.pod_uid)->key.name;
  claim.pod_uid = leftover.pod_uid;
  ticket_ = claims_.end(claim, may_send, [this, leftover](const Result<void>& result) {
    over(leftover);
    if (result) {
      watch_.settled(leftover);
      ++ended_;
    } else {
      next_ = clock_.now() + kAgain;
    }
  });
}

void LeftoverClaims::over(const ClaimOfPod& leftover) {
  busy_ = false;
  claims_.give_back(leftover.pod_uid);
}

}  // namespace chipweave::sched
