#include "scheduler-plugin/kube/repair/leftover_claims.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::seconds kAgain{2};
constexpr std::chrono::seconds kGoneFor{60};

}  // namespace

const ClusterPod* LeftoverClaims::unbound(const std::string& uid) const {
  const PodRecord* record = records_.find(uid);
  if (record == nullptr || record->in_flight != nullptr) return nullptr;
  const ClusterPod* pod = cluster_.find(record->key);
  return pod != nullptr && pod->request.uid == uid && pod->node.empty() ? pod : nullptr;
}

ClaimWatch::Use LeftoverClaims::use_of(const ClaimOfPod& claim,
                                       std::map<std::string, Clock::Steady>& unknown) {
  const PodRecord* record = records_.find(claim.pod_uid);
  if (record == nullptr) {  // it is gone, or not known yet
    const auto before = unknown_.find(claim.pod_uid);
    const Clock::Steady since = before == unknown_.end() ? clock_.now() : before->second;
    unknown.emplace(claim.pod_uid, since);
    const bool forgotten = !claim.pod.empty() && clock_.now() >= since + kGoneFor;
    return forgotten ? ClaimWatch::Use::leftover : ClaimWatch::Use::unknown;
  }
  if (record->in_flight != nullptr) return ClaimWatch::Use::unknown;
  return unbound(claim.pod_uid) == nullptr ? ClaimWatch::Use::used : ClaimWatch::Use::leftover;
}

bool LeftoverClaims::is_left(const ClaimOfPod& claim) const {
  if (records_.find(claim.pod_uid) != nullptr) return unbound(claim.pod_uid) != nullptr;
  const ClusterPod* pod = cluster_.find({claim.ns, claim.pod});
  return pod == nullptr || pod->request.uid != claim.pod_uid;
}

void LeftoverClaims::check(const std::function<bool()>& may_send) {
  if (busy_ || clock_.now() < next_) return;
  ticket_.reset();
  std::map<std::string, Clock::Steady> unknown;
  auto leftover =
      watch_.next_unsettled([&](const ClaimOfPod& claim) { return use_of(claim, unknown); });
  if (leftover) {
    unknown_.merge(unknown);  // the pass ended early
  } else {
    unknown_ = std::move(unknown);
  }
  if (!leftover || !claims_.take(leftover->pod_uid)) return;
  busy_ = true;
  if (const PodRecord* record = records_.find(leftover->pod_uid)) leftover->pod = record->key.name;
  cluster_.refresh({leftover->ns, leftover->pod},
                   [this, leftover = *leftover, may_send](const Result<void>& read) {
                     if (read && is_left(leftover)) return end(leftover, may_send);
                     over(leftover);
                     next_ = clock_.now() + kAgain;
                     // after the others
                     unknown_.insert_or_assign(leftover.pod_uid, clock_.now());
                   });
}

void LeftoverClaims::end(const ClaimOfPod& leftover, const std::function<bool()>& may_send) {
  codec::PodClaim claim;
  claim.ns = leftover.ns;
  claim.pod = leftover.pod;
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
