#include "scheduler-plugin/kube/token_review.hpp"

#include <algorithm>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/codec/kube/objects/token_review.hpp"
#include "common/http/sha256.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

using Kind = CallerVerdict::Kind;

constexpr std::string_view kGroup = "group:";
constexpr std::size_t kMaxNameShown = 256;
constexpr std::chrono::seconds kProblemLogInterval{60};  // between log lines about the same problem

bool is_listed(const std::vector<std::string>& listed, const std::string& user,
               const std::vector<std::string>& groups) {
  return std::any_of(listed.begin(), listed.end(), [&](const std::string& one) {
    if (!one.starts_with(kGroup)) return one == user;
    return std::find(groups.begin(), groups.end(), one.substr(kGroup.size())) != groups.end();
  });
}

}  // namespace

const CallerVerdict* TokenReviewer::Remembered::find(const std::string& digest, Steady now) {
  const auto it = by_digest_.find(digest);
  if (it == by_digest_.end()) return nullptr;
  if (it->second->until > now) return &it->second->verdict;
  known_.erase(it->second);
  by_digest_.erase(it);
  return nullptr;
}

void TokenReviewer::Remembered::add(const std::string& digest, const CallerVerdict& verdict,
                                    Steady until, std::size_t at_most) {
  if (known_.size() >= at_most) {
    by_digest_.erase(known_.front().digest);
    known_.pop_front();
  }
  known_.push_back({digest, verdict, until});
  by_digest_[digest] = std::prev(known_.end());
}

void TokenReviewer::remember(const std::string& digest, const CallerVerdict& verdict) {
  const bool accepted = verdict.kind == Kind::accepted;
  if (!accepted && verdict.kind != Kind::unknown && verdict.kind != Kind::forbidden) return;
  const auto lifetime = accepted ? options_.accepted_for : options_.refused_for;
  (accepted ? accepted_ : refused_)
      .add(digest, verdict, transport_.now() + lifetime, options_.max_remembered);
}

void TokenReviewer::check(std::string token, Done done) {
  const std::string digest = http::sha256(token);
  const auto now = transport_.now();
  const CallerVerdict* verdict = accepted_.find(digest, now);
  if (verdict == nullptr) verdict = refused_.find(digest, now);
  if (verdict != nullptr) {
    const CallerVerdict copy = *verdict;
    return done(copy);
  }
  if (waiting_ >= options_.max_waiting) {
    return done({Kind::busy, "too many token reviews are waiting; try again"});
  }
  ++waiting_;
  const auto [it, fresh] = reviews_.try_emplace(digest);
  it->second.waiting.push_back(std::move(done));
  if (!fresh) return;
  it->second.token = std::move(token);
  queue_.push_back(digest);
  pump();
}

void TokenReviewer::pump() {
  while (in_flight_ < options_.at_once && !queue_.empty()) {
    const std::string digest = std::move(queue_.front());
    queue_.pop_front();
    ++in_flight_;
    Review& review = reviews_.at(digest);
    kube::Call call;
    call.method = "POST";
    call.target = codec::kTokenReviewPath;
    call.body = codec::write_token_review(std::exchange(review.token, {}), options_.audience);
    call.deadline = options_.deadline;
    review.call = transport_.call(
        std::move(call),
        [this, digest](const Result<kube::Reply>& reply) { answered(digest, reply); });
  }
}

void TokenReviewer::answered(const std::string& digest, const Result<kube::Reply>& reply) {
  const Review over = std::move(reviews_.extract(digest).mapped());
  --in_flight_;
  waiting_ -= over.waiting.size();
  const CallerVerdict verdict = judge(reply);
  remember(digest, verdict);
  const bool refused = verdict.kind == Kind::unknown || verdict.kind == Kind::forbidden;
  ++(verdict.kind == Kind::accepted ? stats_.accepted : refused ? stats_.refused : stats_.failed);
  for (const Done& done : over.waiting) done(verdict);
  pump();
}

// The operator sees the problem in the log; the caller does not.
CallerVerdict TokenReviewer::trouble(const std::string& what) {
  const auto now = transport_.now();
  if (what != last_problem_ || now - problem_logged_ >= kProblemLogInterval) {
    obs::log(obs::Level::warn, "token review failed", {{"problem", what}});
    last_problem_ = what;
    problem_logged_ = now;
  }
  return {Kind::unavailable, "the token could not be checked; try again"};
}

CallerVerdict TokenReviewer::judge(const Result<kube::Reply>& reply) {
  if (!reply) return trouble(reply.error().text());
  if (reply->status == 401 || reply->status == 403) {
    return trouble("chipweave may not create TokenReviews (HTTP " + std::to_string(reply->status) +
                   "); grant `create` on tokenreviews");
  }
  if (reply->status != 200 && reply->status != 201)
    return trouble("the API server answers HTTP " + std::to_string(reply->status));
  if (reply->body.size() > limits::kMaxTokenReviewBytes)
    return trouble("the API server's answer is larger than 256 KiB");
  std::string body = reply->body;
  const auto owner = codec::read_token_review(body);
  if (!owner) return trouble("the API server's answer: " + owner.error().text());
  const auto& audiences = owner->audiences;
  if (!owner->authenticated || owner->user.empty() ||
      std::find(audiences.begin(), audiences.end(), options_.audience) == audiences.end()) {
    return {Kind::unknown,
            "the API server does not accept the token: it is expired, revoked or not "
            "for the audience " +
                in_quotes(options_.audience)};
  }
  const std::string user = owner->user.substr(0, kMaxNameShown);
  if (is_listed(options_.users, owner->user, owner->groups)) return {Kind::accepted, {}, user};
  if (is_listed(options_.reader_users, owner->user, owner->groups))
    return {Kind::accepted, {}, user, true};
  if (options_.users.empty() && options_.reader_users.empty()) {
    return {Kind::forbidden,
            "grpc-users is empty, and so is grpc-reader-users: all callers are rejected", user};
  }
  return {Kind::forbidden,
          in_quotes(user) + " is not in grpc-users or grpc-reader-users, nor is any of its groups",
          user};
}

}  // namespace chipweave::sched
