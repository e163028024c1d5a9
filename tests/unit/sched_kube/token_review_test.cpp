// Which tokens are accepted: the requests sent, what the answers mean, how long they hold, and what
// a flood of tokens may cost.
#include "scheduler-plugin/kube/token_review.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include <nlohmann/json.hpp>

#include "common/base/limits.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

using Kind = CallerVerdict::Kind;
using std::chrono::seconds;
using ::testing::HasSubstr;

// Holds every call; the test answers them in any order.
class HeldCalls final : public kube::Transport {
 public:
  struct Held {
    kube::Call call;
    std::function<void(Result<kube::Reply>)> done;
  };
  std::unique_ptr<kube::Ticket> call(kube::Call call,
                                     std::function<void(Result<kube::Reply>)> done) override {
    calls.push_back({std::move(call), std::move(done)});
    return std::make_unique<kube::Ticket>();
  }
  std::unique_ptr<kube::Ticket> stream(kube::StreamRequest, kube::StreamSink) override {
    return nullptr;
  }
  std::unique_ptr<kube::Ticket> after(std::chrono::milliseconds, std::function<void()>) override {
    return nullptr;
  }
  std::chrono::steady_clock::time_point now() const override { return time; }

  // To the oldest call.
  void answer(Result<kube::Reply> reply) {
    const Held held = std::move(calls.front());
    calls.pop_front();
    held.done(std::move(reply));
  }
  void answer(int status, const std::string& body) {
    answer(kube::Reply{status, body, std::nullopt});
  }

  std::deque<Held> calls;
  std::chrono::steady_clock::time_point time{};
};

std::string review(const std::string& user, const std::string& groups = "[]",
                   const std::string& audiences = R"(["chipweave"])") {
  return R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":")" + user +
         R"(","groups":)" + groups + R"(},"audiences":)" + audiences + "}}";
}
const std::string kInvalid =
    R"({"kind":"TokenReview","status":{"user":{},"error":"[invalid bearer token]"}})";

struct Tokens : ::testing::Test {
  Tokens() { obs::set_level("error"); }

  TokenReviewer::Options options{"chipweave", {"alice", "group:planners"}};
  HeldCalls api;
  std::unique_ptr<TokenReviewer> made_reviewer;

  TokenReviewer& reviewer() {
    if (!made_reviewer) made_reviewer = std::make_unique<TokenReviewer>(api, options);
    return *made_reviewer;
  }
  using Answer = std::shared_ptr<std::optional<CallerVerdict>>;
  Answer ask(const std::string& token) {
    auto answer = std::make_shared<std::optional<CallerVerdict>>();
    reviewer().check(token, [answer](const CallerVerdict& verdict) { *answer = verdict; });
    return answer;
  }
  CallerVerdict verdict(const std::string& token, int status, const std::string& body) {
    const Answer answer = ask(token);
    EXPECT_EQ(api.calls.size(), 1U);
    EXPECT_FALSE(*answer);
    api.answer(status, body);
    return answer->value_or(CallerVerdict{});
  }
};

TEST_F(Tokens, AreReviewedForOurAudience) {
  ask("t1");
  ASSERT_EQ(api.calls.size(), 1U);
  const kube::Call& call = api.calls.front().call;
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.target, "/apis/authentication.k8s.io/v1/tokenreviews");
  const auto body = nlohmann::json::parse(call.body);
  EXPECT_EQ(body["kind"], "TokenReview");
  EXPECT_EQ(body["spec"]["token"], "t1");
  EXPECT_EQ(body["spec"]["audiences"], nlohmann::json({"chipweave"}));
}

TEST_F(Tokens, UsersAndGroupsOfTheListAreLetIn) {
  EXPECT_EQ(verdict("1", 201, review("alice")).kind, Kind::accepted);
  EXPECT_EQ(verdict("2", 201, review("bob", R"(["x","planners"])")).kind, Kind::accepted);
  const CallerVerdict other =
      verdict("3", 201, review("planners", R"(["alice","group:planners"])"));
  EXPECT_EQ(other.kind, Kind::forbidden);
  EXPECT_THAT(other.why, HasSubstr("\"planners\" is not in grpc-users"));
}

TEST_F(Tokens, ReadersAreLetInToReadOnly) {
  options.reader_users = {"carol", "alice"};
  const CallerVerdict reader = verdict("1", 201, review("carol"));
  EXPECT_EQ(reader.kind, Kind::accepted);
  EXPECT_TRUE(reader.only_reads);
  EXPECT_EQ(reader.user, "carol");
  EXPECT_FALSE(verdict("2", 201, review("alice")).only_reads) << "is in both lists";
  options.users.clear();
  EXPECT_EQ(verdict("3", 201, review("dave")).kind, Kind::forbidden);
}

TEST_F(Tokens, AnEmptyListLetsNobodyInAndSaysSo) {
  options.users.clear();
  const CallerVerdict got = verdict("1", 201, review("alice"));
  EXPECT_EQ(got.kind, Kind::forbidden);
  EXPECT_THAT(got.why, HasSubstr("grpc-users is empty"));
}

TEST_F(Tokens, WhatTheApiServerDoesNotKnowAsOneForUsIsUnknown) {
  for (const std::string& body : {kInvalid, review("alice", "[]", "[]"),
                                  review("alice", "[]", R"(["https://api"])"), review("")}) {
    const CallerVerdict got = verdict(body, 201, body);
    EXPECT_EQ(got.kind, Kind::unknown) << body;
    EXPECT_THAT(got.why, HasSubstr("audience \"chipweave\""));
  }
}

TEST_F(Tokens, NoAnswerIsNoVerdictAndNotKept) {
  const auto failing = [&](const Result<kube::Reply>& reply) {
    const Answer answer = ask("t");
    ASSERT_EQ(api.calls.size(), 1U) << "reviewed again each time";
    api.answer(reply);
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->kind, Kind::unavailable);
    EXPECT_EQ((*answer)->why, "the token could not be checked; try again")
        << "the caller learns nothing about the cluster";
  };
  failing(make_error(Errc::unavailable, "10.0.0.1:443: connection refused"));
  failing(make_error(Errc::deadline, "no answer"));
  for (const int status : {401, 403, 404, 429, 500, 503})
    failing(kube::Reply{status, "no", std::nullopt});
  for (const std::string& body :
       {std::string(), std::string("{}"), std::string("null"), std::string("<html>"),
        std::string(R"({"kind":"Status","status":"Failure"})"),
        review("alice", "[\"" + std::string(limits::kMaxTokenReviewBytes, 'g') + "\"]")}) {
    failing(kube::Reply{201, body, std::nullopt});
  }
  EXPECT_EQ(reviewer().stats().failed, 14U);
  EXPECT_EQ(verdict("t", 201, review("alice")).kind, Kind::accepted);
}

TEST_F(Tokens, AnswersHoldForAWhile) {
  EXPECT_EQ(verdict("good", 201, review("alice")).kind, Kind::accepted);
  EXPECT_EQ(verdict("bad", 201, kInvalid).kind, Kind::unknown);
  EXPECT_EQ(verdict("unlisted", 201, review("bob")).kind, Kind::forbidden);
  api.time += seconds(4);
  EXPECT_EQ((*ask("good"))->kind, Kind::accepted);
  EXPECT_EQ((*ask("bad"))->kind, Kind::unknown);
  EXPECT_EQ((*ask("unlisted"))->kind, Kind::forbidden);
  EXPECT_TRUE(api.calls.empty());
  api.time += seconds(1);
  EXPECT_EQ(verdict("bad", 201, kInvalid).kind, Kind::unknown) << "reviewed again";
  EXPECT_EQ(verdict("unlisted", 201, review("bob")).kind, Kind::forbidden) << "reviewed again";
  api.time += seconds(54);
  EXPECT_TRUE(*ask("good"));
  api.time += seconds(1);
  EXPECT_FALSE(*ask("good")) << "after a minute it may have been revoked";
}

TEST_F(Tokens, OnlySoManyAnswersAreKeptTheOldestGoesFirst) {
  options.max_remembered = 2;
  for (const char* token : {"1", "2", "3"})
    EXPECT_EQ(verdict(token, 201, review("alice")).kind, Kind::accepted);
  EXPECT_TRUE(*ask("2"));
  EXPECT_TRUE(*ask("3"));
  EXPECT_FALSE(*ask("1"));
  EXPECT_EQ(api.calls.size(), 1U);
}

TEST_F(Tokens, WorthlessTokensDoNotDropTheAcceptedOnes) {
  options.max_remembered = 2;
  EXPECT_EQ(verdict("good", 201, review("alice")).kind, Kind::accepted);
  for (const char* token : {"1", "2", "3"})
    EXPECT_EQ(verdict(token, 201, kInvalid).kind, Kind::unknown);
  EXPECT_TRUE(*ask("good"));
  EXPECT_TRUE(*ask("3"));
  EXPECT_TRUE(api.calls.empty());
  EXPECT_FALSE(*ask("1")) << "of the refused ones the oldest goes first";
}

TEST_F(Tokens, TheSameTokenIsReviewedOnce) {
  const Answer one = ask("t");
  const Answer two = ask("t");
  ASSERT_EQ(api.calls.size(), 1U);
  api.answer(201, review("alice"));
  EXPECT_EQ((*one)->kind, Kind::accepted);
  EXPECT_EQ((*two)->kind, Kind::accepted);
  EXPECT_EQ(reviewer().stats().accepted, 1U);
}

TEST_F(Tokens, AFloodTakesItsTurnAndIsRefusedBeyondItsLimit) {
  options.at_once = 2;
  options.max_waiting = 5;
  std::vector<Answer> answers;
  for (int i = 0; i < 7; ++i) answers.push_back(ask(std::to_string(i)));
  EXPECT_EQ(api.calls.size(), 2U);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(*answers[static_cast<std::size_t>(i)]);
  for (int i = 5; i < 7; ++i) EXPECT_EQ((*answers[static_cast<std::size_t>(i)])->kind, Kind::busy);
  for (int i = 0; i < 5; ++i) {
    ASSERT_FALSE(api.calls.empty());
    EXPECT_LE(api.calls.size(), 2U);
    api.answer(201, review("alice"));
    EXPECT_EQ((*answers[static_cast<std::size_t>(i)])->kind, Kind::accepted);
  }
  EXPECT_TRUE(api.calls.empty());
  EXPECT_FALSE(*ask("one more")) << "there is room again";
  EXPECT_EQ(api.calls.size(), 1U);
}

TEST_F(Tokens, ACallbackMayCheckAgainAtOnce) {
  Answer second;
  reviewer().check("a", [&](const CallerVerdict&) { second = ask("b"); });
  api.answer(201, review("alice"));
  ASSERT_EQ(api.calls.size(), 1U);
  api.answer(201, review("bob"));
  EXPECT_EQ((*second)->kind, Kind::forbidden);
}

}  // namespace
}  // namespace chipweave::sched
