// A pod is evicted, with every kind of answer of the API server, or none. The answers are those of
// Kubernetes 1.36.
#include "common/kube/evict_pod.hpp"

#include <gtest/gtest.h>

#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

const std::string kEvictedPath = "/api/v1/namespaces/team/pods/w-0";

std::string evict_status(int code, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","code":)" + std::to_string(code) +
         R"(,"message":")" + message + R"("})";
}

class Evicts : public testing::Test {
 protected:
  void begin(const std::string& name = "w-0") {
    ticket_ = evict_pod(server_, {"team", name, "u1", false, [this] { return leads_; }},
                        [this](const Result<void>& result) {
                          outcome_ = result ? "done"
                                            : std::string(to_string(result.error().code)) + ": " +
                                                  result.error().text();
                        });
  }
  void reply(int status, const std::string& message = "") {
    EXPECT_TRUE(server_.may_send == nullptr || server_.may_send());
    server_.reply(status, evict_status(status, message));
  }
  bool leads_ = true;
  ScriptedTransport server_;
  std::unique_ptr<Ticket> ticket_;
  std::string outcome_;
};

TEST_F(Evicts, ByOneRequestThatNamesTheUid) {
  begin();
  EXPECT_EQ(server_.target, "POST " + kEvictedPath + "/eviction");
  EXPECT_EQ(server_.content_type, "application/json");
  EXPECT_EQ(server_.body, R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"w-0",)"
                          R"("namespace":"team"},"deleteOptions":{"preconditions":{"uid":"u1"}}})");
  reply(201);
  EXPECT_EQ(outcome_, "done");
}

TEST(EvictionText, AtOnceIsWithoutAGracePeriod) {
  EXPECT_EQ(eviction_text({"team", "w-0", "u1", true}),
            R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"w-0",)"
            R"("namespace":"team"},"deleteOptions":{"gracePeriodSeconds":0,)"
            R"("preconditions":{"uid":"u1"}}})");
}

TEST_F(Evicts, APodThatIsGoneIsEvicted) {
  begin();
  reply(404, "pods not found");
  EXPECT_EQ(outcome_, "done");
}

TEST_F(Evicts, AnotherPodOfThatNameIsNotItsConcern) {
  begin();
  reply(409, "the UID in the precondition (u1) does not match the UID in record (u2)");
  EXPECT_EQ(server_.target, kEvictedPath);
  server_.reply(
      200, R"({"metadata":{"name":"w-0","namespace":"team","uid":"u2","resourceVersion":"3"}})");
  EXPECT_EQ(outcome_, "done");
}

TEST_F(Evicts, AConflictAboutTheSamePodIsTriedAgain) {
  begin();
  reply(409, "the object has been modified");
  server_.reply(
      200, R"({"metadata":{"name":"w-0","namespace":"team","uid":"u1","resourceVersion":"3"}})");
  EXPECT_EQ(server_.target, "wait 100");
  server_.pass_time();
  reply(201);
  EXPECT_EQ(outcome_, "done");
}

TEST_F(Evicts, ABudgetThatDoesNotAllowItIsAConflict) {
  begin();
  reply(429, "Cannot evict pod as it would violate the pod's disruption budget.");
  EXPECT_EQ(outcome_,
            "conflict: pod team/w-0 may not be evicted now: Cannot evict pod as it would violate "
            "the pod's disruption budget.");
}

TEST_F(Evicts, WhatIsForbiddenStaysForbidden) {
  begin();
  reply(403, "pods/eviction is forbidden");
  EXPECT_EQ(outcome_,
            "invalid_argument: the API server does not let chipweave evict pod team/w-0 (HTTP "
            "403): pods/eviction is forbidden");
}

TEST_F(Evicts, WithoutAnAnswerItIsTriedAgainForSomeTime) {
  begin();
  for (int i = 0; i < 100 && outcome_.empty(); ++i) {
    EXPECT_TRUE(server_.may_send());
    server_.fail(Errc::deadline, "no answer");
    if (outcome_.empty()) server_.pass_time();
  }
  EXPECT_EQ(outcome_, "unavailable: pod team/w-0 could not be evicted in time: no answer");
}

TEST_F(Evicts, NothingIsSentAfterTheTerm) {
  begin();
  leads_ = false;
  EXPECT_FALSE(server_.may_send());
  server_.fail(Errc::unavailable, "not sent");
  EXPECT_EQ(outcome_, "not_sent: the eviction of pod team/w-0 was called off");
}

TEST_F(Evicts, NamesThatNoObjectCanHaveAreRefused) {
  begin("w/../x");
  server_.pass_time();
  EXPECT_EQ(outcome_.substr(0, 16), "invalid_argument");
}

}  // namespace
}  // namespace chipweave::kube
