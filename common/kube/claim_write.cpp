#include "common/kube/claim_write.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/backoff.hpp"
#include "common/base/dns_name.hpp"

namespace chipweave::kube {
namespace {

using Ms = std::chrono::milliseconds;
using Outcome = ClaimWritten::Outcome;

constexpr Ms kOneTry{3'000};
constexpr Ms kFirstWait{100};
constexpr Ms kMaxWait{5'000};
constexpr Ms kNoLonger{75'000};  // a write without an answer is not stored later than this

class Attempt final : public http::AsyncOperation<Attempt> {
 public:
  Attempt(Transport& transport, ClaimWrite write, std::function<void(ClaimWritten)> done)
      : transport_(transport), write_(std::move(write)), done_(std::move(done)) {}

  void begin() {
    const codec::KubeClaim& claim = write_.claim;
    if (!is_dns_label(claim.ns) || !is_dns_subdomain(claim.name)) {
      wait_then(Ms(0), [this] { finish(Outcome::refused, "no claim can have such a name"); });
      return;
    }
    path_ = "/apis/resource.k8s.io/v1/namespaces/" + claim.ns + "/resourceclaims/" + claim.name;
    // no callback before the caller has the ticket
    wait_then(Ms(0), [this] { go_on(); });
  }
  void cancel() {
    over_ = true;
    ticket_.reset();
  }

 private:
  void go_on() {
    auto patch = write_.next(write_.claim);
    if (!patch) return finish(Outcome::done, {});
    if (write_.may_send && !write_.may_send())
      return finish(Outcome::called_off, "it is not to be written any more");
    Call call = call_of("PATCH", patch->status ? path_ + "/status" : path_, std::move(patch->body));
    call.content_type = "application/merge-patch+json";
    call.deadline = kOneTry;
    call.may_send = write_.may_send;
    ticket_ = transport_.call(std::move(call),
                              guarded([this](Result<Reply> reply) { took(std::move(reply)); }));
  }

  void took(Result<Reply> reply) {
    if (!reply || reply->status == 429 || reply->status >= 500) {
      // with 429 the API server has not read it
      if (!reply || reply->status != 429) unanswered_ = transport_.now();
      return again([this] { go_on(); });
    }
    if (reply->status == kNotFound) return finish(Outcome::gone, "the claim does not exist");
    if (reply->status == kConflict) return look();
    if (reply->status != kOk) {
      const std::string problem = "the API server refuses to change the claim (HTTP " +
                                  std::to_string(reply->status) +
                                  "): " + codec::read_status(reply->body).message;
      if (unanswered_ && transport_.now() < *unanswered_ + kNoLonger)
        return again([this] { go_on(); });
      return finish(Outcome::refused, problem);
    }
    if (!read(reply->body)) return again([this] { look(); });
    unanswered_.reset();
    wait_.reset();
    go_on();
  }

  // It has changed: by another client, or by this write before its answer was lost.
  void look() {
    Call call;
    call.target = path_;
    call.deadline = kOneTry;
    ticket_ = transport_.call(std::move(call), guarded([this](Result<Reply> reply) {
                                if (reply && reply->status == kNotFound)
                                  return finish(Outcome::gone, "the claim does not exist");
                                const std::string uid = write_.claim.uid;
                                if (!reply || reply->status != kOk || !read(reply->body))
                                  return again([this] { look(); });
                                if (write_.claim.uid != uid)
                                  return finish(Outcome::gone, "another claim has its name");
                                finish(Outcome::changed, "another client has changed the claim");
                              }));
  }

  bool read(std::string& body) {
    auto claim = reader_.read_one(body);
    if (claim) write_.claim = std::move(*claim);
    return claim.ok();
  }

  void again(std::function<void()> then) { wait_then(wait_.next(Ms(0)), std::move(then)); }
  void wait_then(Ms delay, std::function<void()> then) {
    ticket_ = transport_.after(delay, guarded(std::move(then)));
  }
  void finish(Outcome outcome, std::string problem) {
    over_ = true;
    ClaimWritten written{outcome, std::move(problem), std::nullopt};
    if (outcome == Outcome::done || outcome == Outcome::changed)
      written.claim = std::move(write_.claim);
    done_(std::move(written));
  }

  Transport& transport_;
  ClaimWrite write_;
  std::function<void(ClaimWritten)> done_;
  codec::WatchReader<codec::KubeClaim> reader_;
  std::string path_;
  Backoff wait_{{kFirstWait, kMaxWait, 0}};
  std::optional<std::chrono::steady_clock::time_point> unanswered_;
  std::unique_ptr<Ticket> ticket_;
};

}  // namespace

std::unique_ptr<Ticket> write_claim(Transport& transport, ClaimWrite write,
                                    std::function<void(ClaimWritten)> done) {
  auto attempt = std::make_shared<Attempt>(transport, std::move(write), std::move(done));
  attempt->begin();
  return http::ticket_of(attempt);
}

}  // namespace chipweave::kube
