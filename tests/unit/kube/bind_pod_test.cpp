// Binding a pod, with every kind of answer of the API server, or none.
#include "common/kube/bind_pod.hpp"

#include <gtest/gtest.h>

#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

const std::string kBoundPod = "/api/v1/namespaces/team/pods/w-0";

std::string pod_text(const std::string& uid, const std::string& node,
                     const std::string& annotation = "") {
  return R"({"kind":"Pod","metadata":{"name":"w-0","namespace":"team","uid":")" + uid +
         R"(","annotations":{"other":"x")" +
         (annotation.empty() ? "" : R"(,"chips":")" + annotation + "\"") +
         R"(}},"spec":{"nodeName":")" + node + R"("}})";
}
std::string status(int code, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","code":)" + std::to_string(code) +
         R"(,"message":")" + message + R"("})";
}

class Binds : public testing::Test {
 protected:
  void begin() {
    BindRequest order{"team", "w-0", "u1", "n1", {{"chips", "0,3"}}, [this] { return may_send_; }};
    ticket_ = bind_pod(server_, std::move(order), [this](Result<void> result) {
      ++answers_;
      outcome_ = result
                     ? "bound"
                     : std::string(to_string(result.error().code)) + ": " + result.error().text();
    });
  }
  // As a transport does when may_send returns false.
  void send() {
    if (!server_.may_send()) server_.fail(Errc::unavailable, "called off");
  }
  bool may_send_ = true;
  ScriptedTransport server_;
  std::unique_ptr<Ticket> ticket_;
  std::string outcome_;
  int answers_ = 0;
};

TEST_F(Binds, OneWriteWithUidNodeAndAnnotations) {
  begin();
  EXPECT_EQ(server_.target, "POST " + kBoundPod + "/binding");
  EXPECT_EQ(server_.body,
            R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"w-0","namespace":"team",)"
            R"("uid":"u1","annotations":{"chips":"0,3"}},)"
            R"("target":{"apiVersion":"v1","kind":"Node","name":"n1"}})");
  server_.reply(201, "{}");
  EXPECT_EQ(outcome_, "bound");
}

TEST_F(Binds, ALostAnswerIsAskedFor) {
  begin();
  send();
  server_.fail(Errc::unavailable, "reset by peer");
  EXPECT_EQ(server_.target, kBoundPod);
  server_.reply(200, pod_text("u1", "n1", "0,3"));
  EXPECT_EQ(outcome_, "bound");
}

TEST_F(Binds, AnAnswerThatNeverReachedTheServerIsTriedAgain) {
  begin();
  send();
  server_.fail(Errc::deadline, "no answer in time");
  server_.reply(200, pod_text("u1", ""));
  EXPECT_EQ(server_.target, "wait 100");
  server_.pass_time();
  EXPECT_EQ(server_.target, "POST " + kBoundPod + "/binding");
  // the first one arrived after all
  server_.reply(409, status(409, "pod w-0 is already assigned to node n1"));
  server_.reply(200, pod_text("u1", "n1", "0,3"));
  EXPECT_EQ(outcome_, "bound");
}

TEST_F(Binds, ConflictsAreToldApart) {
  const struct {
    std::string shown, outcome;
  } cases[] = {
      {pod_text("u1", "n1", "0,3"), "bound"},
      {pod_text("u1", "n2", "0,3"), "conflict: pod team/w-0 is already bound to node n2"},
      {pod_text("u1", "n1", "1,2"),
       "conflict: pod team/w-0 was bound to node n1 by another scheduler"},
      {pod_text("u1", "n1"), "conflict: pod team/w-0 was bound to node n1 by another scheduler"},
      {pod_text("u2", ""), "conflict: pod team/w-0 has another uid: it was deleted and recreated"},
      {pod_text("u1", ""), "conflict: pod team/w-0 cannot be bound: is being deleted"},
  };
  for (const auto& c : cases) {
    begin();
    server_.reply(409, status(409, "is being deleted"));
    EXPECT_EQ(server_.target, kBoundPod);
    server_.reply(200, c.shown);
    EXPECT_EQ(outcome_, c.outcome);
  }
}

TEST_F(Binds, WhatNoSecondTryChangesIsAnError) {
  const struct {
    int code;
    std::string outcome;
  } cases[] = {
      {404, "not_found: pod team/w-0 does not exist"},
      // a policy or a webhook denies it, or the namespace is being deleted: nothing was stored
      {403, "invalid_argument: the API server does not let chipweave bind pod team/w-0: why"},
      {401, "invalid_argument: the API server does not let chipweave bind pod team/w-0: why"},
      {400, "invalid_argument: the API server refuses the binding of pod team/w-0 (HTTP 400): why"},
      {422, "invalid_argument: the API server refuses the binding of pod team/w-0 (HTTP 422): why"},
  };
  for (const auto& c : cases) {
    begin();
    server_.reply(c.code, status(c.code, "why"));
    EXPECT_EQ(outcome_, c.outcome);
  }
  EXPECT_EQ(answers_, 5);
}

// The first one may still arrive, or be admitted by then.
TEST_F(Binds, ARefusalAfterALostAnswerIsNotTheOutcome) {
  begin();
  send();
  server_.fail(Errc::deadline, "no answer in time");
  server_.reply(200, pod_text("u1", ""));
  server_.pass_time();
  send();
  server_.reply(403, status(403, "why"));
  EXPECT_EQ(outcome_, "unavailable: the API server does not let chipweave bind pod team/w-0: why");
}

TEST_F(Binds, ARefusalAfterAnotherOneIsFinal) {
  begin();
  send();
  server_.reply(429, status(429, "busy"));
  server_.reply(200, pod_text("u1", ""));
  server_.pass_time();
  send();
  server_.reply(403, status(403, "why"));
  EXPECT_EQ(outcome_,
            "invalid_argument: the API server does not let chipweave bind pod team/w-0: why");
}

TEST_F(Binds, AServerThatIsAwayIsWaitedForUntilTimeIsUp) {
  begin();
  std::vector<std::string> waits;
  while (outcome_.empty()) {
    ASSERT_LT(waits.size(), 20U);
    server_.reply(503, "away");
    if (server_.on_reply != nullptr && outcome_.empty()) server_.reply(200, pod_text("u1", ""));
    if (!outcome_.empty()) break;
    waits.push_back(server_.target);
    server_.pass_time();
  }
  EXPECT_EQ(waits, (std::vector<std::string>{"wait 100", "wait 200", "wait 400", "wait 800",
                                             "wait 1600"}));
  EXPECT_EQ(outcome_,
            "unavailable: the API server did not take the binding of pod team/w-0 in time: away");
  EXPECT_EQ(answers_, 1);
}

TEST_F(Binds, AnUnansweredQuestionIsAskedAgainNotBoundAgain) {
  begin();
  send();
  server_.fail(Errc::unavailable, "cut");
  server_.fail(Errc::unavailable, "cut");
  EXPECT_EQ(server_.target, "wait 100");
  server_.pass_time();
  EXPECT_EQ(server_.target, kBoundPod);
  server_.reply(200, pod_text("u1", "n1", "0,3"));
  EXPECT_EQ(outcome_, "bound");
}

TEST_F(Binds, CalledOffBeforeItWasSent) {
  begin();
  EXPECT_EQ(server_.target, "POST " + kBoundPod + "/binding");
  may_send_ = false;
  send();
  EXPECT_EQ(outcome_, "not_sent: the binding of pod team/w-0 was called off");
  EXPECT_EQ(answers_, 1);
}

// A server that cannot be reached, or is busy with other calls of ours: nothing is uncertain.
TEST_F(Binds, WhatWasNeverSentIsNotAskedFor) {
  begin();
  while (outcome_.empty()) {
    EXPECT_EQ(server_.target, "POST " + kBoundPod + "/binding");
    server_.fail(Errc::deadline, "was busy with other calls");
    if (!outcome_.empty()) break;
    EXPECT_TRUE(server_.target.starts_with("wait ")) << server_.target;
    server_.pass_time();
  }
  EXPECT_EQ(outcome_,
            "not_sent: the API server did not take the binding of pod team/w-0 in time: "
            "was busy with other calls");
}

TEST_F(Binds, NoSecondTryAfterItWasCalledOff) {
  begin();
  send();
  EXPECT_EQ(answers_, 0) << "the binding was sent";
  server_.reply(503, "away");
  EXPECT_EQ(server_.may_send, nullptr) << "reading changes nothing and is always allowed";
  server_.reply(200, pod_text("u1", ""));
  may_send_ = false;
  server_.pass_time();
  EXPECT_EQ(server_.target, "POST " + kBoundPod + "/binding");
  send();
  EXPECT_EQ(outcome_, "unavailable: the binding of pod team/w-0 was called off: away");
}

TEST_F(Binds, NamesThatMeanSomethingInAPathAreNotSent) {
  for (const char* name : {"", "a/b", "..", "a?b", "a b", "A", "%2e"}) {
    outcome_.clear();
    ticket_ =
        bind_pod(server_, {"team", name, "u1", "n1", {}, {}}, [this](const Result<void>& result) {
          outcome_ = result ? "bound" : to_string(result.error().code);
        });
    EXPECT_EQ(server_.target, "wait 0") << name;
    server_.pass_time();
    EXPECT_EQ(outcome_, "invalid_argument") << name;
  }
}

TEST_F(Binds, NothingComesAfterTheTicketIsGone) {
  begin();
  const auto answer = server_.on_reply;
  ticket_.reset();
  answer(Reply{201, "{}", std::nullopt});
  EXPECT_EQ(answers_, 0);
}

}  // namespace
}  // namespace chipweave::kube
