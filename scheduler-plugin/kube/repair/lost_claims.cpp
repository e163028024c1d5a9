#include "scheduler-plugin/kube/repair/lost_claims.hpp"

#include <chrono>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/obs/log.hpp"
#include "scheduler-plugin/kube/attribution.hpp"

namespace chipweave::sched {
namespace {

using std::chrono::seconds;

constexpr std::size_t kPodsAtOnce = 200;
constexpr seconds kLostFor{5};      // the watches may be behind each other
constexpr seconds kTryAgain{10};    // after a failure
constexpr seconds kMuchLater{600};  // for a pod that was never given a claim
constexpr std::chrono::milliseconds kReadTime{10'000};

bool has_ended(const codec::KubePod& pod) {
  return pod.ending || pod.phase == "Succeeded" || pod.phase == "Failed";
}

}  // namespace

bool LostClaims::lacks_claim(const PodRecord& record) const {
  if (record.state != PodState::bound) return false;
  const ClusterPod* pod = cluster_.find(record.key);
  if (pod == nullptr || pod->request.uid != record.uid || pod->node.empty() || pod->ending)
    return false;
  if (watch_.has_claim_of(record.key.ns, record.uid)) return false;
  const NodeId id = nodes_.find(pod->node);
  return id != kNoNode && nodes_.node(id).enforcement == domain::Enforcement::dra;
}

void LostClaims::check(const std::function<bool()>& may_send) {
  if (busy_ || !watch_.served()) return;
  ticket_.reset();
  std::size_t left = kPodsAtOnce;
  const std::string from = last_;
  records_.each_after(from, [&](const PodRecord& record) {
    last_ = record.uid;
    --left;
    return look_at(record, may_send) && left > 0;
  });
  if (busy_ || left == 0) return;
  last_.clear();
  std::erase_if(missing_, [&](const auto& one) { return records_.find(one.first) == nullptr; });
}

bool LostClaims::look_at(const PodRecord& record, const std::function<bool()>& may_send) {
  if (!lacks_claim(record)) {
    missing_.erase(record.uid);
    return true;
  }
  const auto [at, fresh] = missing_.emplace(record.uid, clock_.now() + kLostFor);
  if (fresh || clock_.now() < at->second || !claims_.take(record.uid)) return true;
  busy_ = true;
  read(record, may_send);
  return false;
}

// The watch may not show yet that the pod has ended, which ends its claim rightly.
void LostClaims::read(const PodRecord& record, const std::function<bool()>& may_send) {
  kube::Call call;
  call.target = "/api/v1/namespaces/" + record.key.ns + "/pods/" + record.key.name;
  call.deadline = kReadTime;
  ticket_ = transport_.call(std::move(call), [this, key = record.key, uid = record.uid,
                                              may_send](Result<kube::Reply> reply) {
    const auto own = std::move(ticket_);
    const auto order = order_of(key, uid, std::move(reply));
    if (order) return make(*order, may_send);
    const bool unread = order.error().code == Errc::unavailable;
    obs::log(unread ? obs::Level::warn : obs::Level::debug, "a bound pod has no claim",
             {{"pod", printable(key.text())}, {"why", printable(order.error().text())}});
    look_later(uid, unread ? kTryAgain : kMuchLater);
  });
}

Result<BindOrder> LostClaims::order_of(const PodKey& key, const std::string& uid,
                                       Result<kube::Reply> reply) {
  if (!reply || reply->status != kube::kOk) {
    return make_error(Errc::unavailable,
                      "the pod cannot be read: " +
                          (reply ? "HTTP " + std::to_string(reply->status) : reply.error().text()));
  }
  std::string copy = reply->body;
  const auto pod = reader_.read_one(copy);
  if (!pod) return Error(pod.error());
  auto status = codec::read_pod_claim_status(reply->body);
  if (!status) return std::move(status).error();
  const ClusterPod* known = cluster_.find(key);
  if (known == nullptr || known->request.uid != uid || pod->uid != uid || has_ended(*pod))
    return make_error(Errc::not_found, "it has ended");
  const auto placement = placement_of(*pod, *known);
  if (status->claim != codec::kPodClaimPrefix + uid || !placement ||
      status->resource != placement->resource)
    return make_error(Errc::unsupported, "it was given no claim");
  for (const auto& [container, chips] : status->containers) {
    for (const std::size_t k : chips) {
      if (k >= placement->chips.size())
        return make_error(Errc::invalid_argument, "its status names more chips than it has");
    }
  }
  BindOrder out;
  out.binding = {key, uid, placement->node};
  out.claim = ClaimOrder{placement->resource, placement->chips, std::move(status->containers)};
  return out;
}

void LostClaims::make(const BindOrder& order, const std::function<bool()>& may_send) {
  const auto claim = claims_.claim_of(order);
  if (!claim) return made(order.binding, Error(claim.error()));
  ticket_ = claims_.allocate(
      *claim, may_send,
      [this, of = order.binding](const Result<void>& result) { made(of, result); });
}

void LostClaims::made(const Binding& of, const Result<void>& result) {
  if (result) {
    ++made_again_;
    obs::log(obs::Level::warn, "another client had ended the claim of a bound pod: made again",
             {{"pod", printable(of.key.text())}, {"node", printable(of.node)}});
  } else {
    obs::log(obs::Level::warn, "the claim of a bound pod is gone, and cannot be made again yet",
             {{"pod", printable(of.key.text())}, {"error", printable(result.error().text())}});
  }
  look_later(of.uid, result ? kLostFor : kTryAgain);
}

void LostClaims::look_later(const std::string& uid, std::chrono::seconds after) {
  busy_ = false;
  claims_.give_back(uid);
  missing_.insert_or_assign(uid, clock_.now() + after);
}

}  // namespace chipweave::sched
