#include "scheduler-plugin/kube/dra/claim_certainty.hpp"

#include <utility>

#include "common/codec/kube/dra/claim_writes.hpp"

namespace chipweave::sched {
namespace {

constexpr const char* kApi = "/apis/resource.k8s.io/v1/";
constexpr std::chrono::milliseconds kListTime{10'000};

}  // namespace

void ClaimCertainty::when_certain(std::function<bool()> may_send, Done then) {
  if (is_certain()) return then({});
  waiting_.push_back(std::move(then));
  if (busy_ && asked_ == authority_.term()) return;
  busy_ = true;
  certain_ = false;
  asked_ = authority_.term();
  may_send_ = std::move(may_send);
  writes_.clear();
  problem_.clear();
  list<codec::KubeClaim>("resourceclaims", {}, &ClaimCertainty::claims_listed);
}

// Without a resourceVersion: a consistent read instead of a cached one.
template <class Object>
void ClaimCertainty::list(const char* resource, const std::string& from,
                          void (ClaimCertainty::*then)()) {
  kube::Call call;
  call.target = std::string(kApi) + resource + "?limit=500" +
                (from.empty() ? std::string() : "&continue=" + from);
  call.deadline = kListTime;
  ticket_ = transport_.call(std::move(call), [this, resource, then](Result<kube::Reply> reply) {
    const auto own = std::move(ticket_);
    if (reply && reply->status == kube::kNotFound) return (this->*then)();  // it has no such API
    const auto failed = [&](const std::string& why) {
      over(make_error(Errc::unavailable, std::string("cannot list ") + resource + ": " + why));
    };
    if (!reply) return failed(reply.error().text());
    if (reply->status != kube::kOk) return failed("HTTP " + std::to_string(reply->status));
    auto page = codec::WatchReader<Object>().read_page(reply->body);
    if (!page) return failed(page.error().text());
    for (Object& object : page->objects) watch_.note(std::move(object));
    if (!page->next.empty()) return list<Object>(resource, page->next, then);
    (this->*then)();
  });
}

// The devices of a claim may be newer than the watch of slices.
void ClaimCertainty::claims_listed() {
  if (watch_.unknown() == 0) return settle();
  list<codec::KubeSlice>("resourceslices", {}, &ClaimCertainty::settle);
}

void ClaimCertainty::settle() {
  watch_.check();
  std::vector<codec::KubeClaim> begun = begun_();
  for (codec::KubeClaim& claim : begun) {
    kube::ClaimWrite write;
    const std::string version = claim.resource_version;
    const std::string key = claim.ns + "/" + claim.name;
    write.claim = std::move(claim);
    write.may_send = may_send_;
    write.next = [version](const codec::KubeClaim& now) -> std::optional<kube::ClaimPatch> {
      if (now.resource_version != version || now.allocated) return std::nullopt;
      return kube::ClaimPatch{false, codec::write_claim_finalizer(now, false)};
    };
    writes_[key] =
        kube::write_claim(transport_, std::move(write), [this, key](kube::ClaimWritten written) {
          const auto own = writes_.extract(key);
          using Outcome = kube::ClaimWritten::Outcome;
          if (written.claim) watch_.note(std::move(*written.claim));
          if (written.outcome == Outcome::refused || written.outcome == Outcome::called_off)
            problem_ = key + ": " + written.problem;
          if (writes_.empty())
            over(problem_.empty() ? Result<void>() : make_error(Errc::unavailable, problem_));
        });
  }
  if (writes_.empty()) over({});
}

void ClaimCertainty::over(const Result<void>& result) {
  busy_ = false;
  certain_ = result.ok() && asked_ == authority_.term();
  term_ = asked_;
  const auto waiting = std::move(waiting_);
  waiting_.clear();
  for (const Done& done : waiting) {
    if (result && !certain_) {
      done(make_error(Errc::unavailable, "this replica's term is over"));
    } else {
      done(result);
    }
  }
}

}  // namespace chipweave::sched
