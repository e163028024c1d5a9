#include "scheduler-plugin/kube/waiting/forgotten_claims.hpp"

#include <utility>

#include "common/base/dns_name.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::seconds kEach{1};
constexpr std::chrono::seconds kForgotten{60};
constexpr std::chrono::milliseconds kPodTime{3'000};

}  // namespace

void ForgottenClaims::check(const std::function<bool()>& may_send) {
  if (ticket_ != nullptr || clock_.now() < next_) return;
  next_ = clock_.now() + kEach;
  auto at = book_.claims().upper_bound(at_);
  if (at == book_.claims().end()) at = book_.claims().begin();
  if (at == book_.claims().end()) return since_.clear();
  at_ = at->first;
  if (!at->second.allocated) {
    since_.erase(at->second.uid);
    return;
  }
  may_send_ = may_send;
  ask(at->second, 0);
}

// Whether the pod exists for which it is reserved; then of the next one.
void ForgottenClaims::ask(const codec::KubeClaim& claim, std::size_t consumer) {
  if (consumer == claim.consumers.size()) return nobody_uses(claim);
  const codec::ClaimConsumer& one = claim.consumers[consumer];
  const bool pod = one.resource == "pods" && one.api_group.empty();
  if (!pod || !is_dns_label(claim.ns) || !is_dns_subdomain(one.name)) {
    since_.erase(claim.uid);
    return;
  }
  kube::Call call;
  call.target = "/api/v1/namespaces/" + claim.ns + "/pods/" + one.name;
  call.deadline = kPodTime;
  ticket_ = transport_.call(std::move(call),
                            [this, claim, consumer, uid = one.uid](Result<kube::Reply> reply) {
                              const auto own = std::move(ticket_);
                              bool gone = reply && reply->status == kube::kNotFound;
                              if (reply && reply->status == kube::kOk) {
                                codec::WatchReader<codec::KubePod> reader;
                                const auto found = reader.read_one(reply->body);
                                gone = found && found->uid != uid;
                              }
                              if (gone) return ask(claim, consumer + 1);
                              since_.erase(claim.uid);
                            });
}

void ForgottenClaims::nobody_uses(const codec::KubeClaim& claim) {
  const auto since = since_.try_emplace(claim.uid, clock_.now()).first->second;
  if (clock_.now() < since + kForgotten) return;
  kube::ClaimWrite write;
  write.claim = claim;
  write.may_send = may_send_;
  write.next = [version = claim.resource_version](
                   const codec::KubeClaim& now) -> std::optional<kube::ClaimPatch> {
    if (!now.allocated || now.resource_version != version) return std::nullopt;
    return kube::ClaimPatch{true, codec::write_claim_release(now)};
  };
  ticket_ = kube::write_claim(transport_, std::move(write), [this](kube::ClaimWritten written) {
    const auto own = std::move(ticket_);
    const bool done = written.outcome == kube::ClaimWritten::Outcome::done;
    if (done && written.claim && !written.claim->allocated) ++ended_;
    if (written.claim) took_(std::move(*written.claim));
  });
}

}  // namespace chipweave::sched
