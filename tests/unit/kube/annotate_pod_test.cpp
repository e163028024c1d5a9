// Annotations are added to a pod exactly once, with every kind of answer of the API server, or
// none.
#include "common/kube/annotate_pod.hpp"

#include <gtest/gtest.h>

#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

const std::string kPod = "/api/v1/namespaces/team/pods/w-0";

std::string annotated_pod(const std::string& uid, const std::string& chips = "") {
  return R"({"kind":"Pod","metadata":{"name":"w-0","namespace":"team","uid":")" + uid +
         R"(","resourceVersion":"7","annotations":{"other":"x")" +
         (chips.empty() ? "" : R"(,"chips":")" + chips + "\"") + R"(}},"spec":{"nodeName":"n1"}})";
}
std::string annotate_status(int code, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","code":)" + std::to_string(code) +
         R"(,"message":")" + message + R"("})";
}

class Annotates : public testing::Test {
 protected:
  void begin(const std::string& name = "w-0") {
    ticket_ =
        annotate_pod(server_, {"team", name, "u1", {{"chips", "0,3"}, {"more", "y"}}, "chips"},
                     [this](const Result<void>& result) {
                       ++answers_;
                       outcome_ = result ? "done"
                                         : std::string(to_string(result.error().code)) + ": " +
                                               result.error().text();
                     });
  }
  ScriptedTransport server_;
  std::unique_ptr<Ticket> ticket_;
  std::string outcome_;
  int answers_ = 0;
};

TEST_F(Annotates, TheVersionThatWasRead) {
  begin();
  EXPECT_EQ(server_.target, kPod);
  server_.reply(200, annotated_pod("u1"));
  EXPECT_EQ(server_.target, "PATCH " + kPod);
  EXPECT_EQ(server_.body, R"({"metadata":{"uid":"u1","resourceVersion":"7",)"
                          R"("annotations":{"chips":"0,3","more":"y"}}})");
  server_.reply(200, "{}");
  EXPECT_EQ(outcome_, "done");
  EXPECT_EQ(answers_, 1);
}

TEST_F(Annotates, ReadsAgainWhenItChangedMeanwhile) {
  begin();
  server_.reply(200, annotated_pod("u1"));
  server_.reply(409, annotate_status(409, "the object has been modified"));
  EXPECT_EQ(server_.target, "wait 100");
  server_.pass_time();
  EXPECT_EQ(server_.target, kPod);
  server_.reply(200, annotated_pod("u1", "4,5"));
  EXPECT_EQ(outcome_, "conflict: pod team/w-0 has the annotation chips already");
}

TEST_F(Annotates, ALostAnswerIsLookedFor) {
  begin();
  server_.reply(200, annotated_pod("u1"));
  server_.fail(Errc::unavailable, "reset by peer");
  server_.pass_time();
  server_.reply(200, annotated_pod("u1", "0,3"));
  EXPECT_EQ(outcome_, "done") << "the patch arrived";
}

TEST_F(Annotates, ThePodThatIsMeant) {
  begin();
  server_.reply(200, annotated_pod("u2"));
  EXPECT_EQ(outcome_, "conflict: pod team/w-0 has another uid: it was deleted and recreated");
  begin();
  server_.reply(404, annotate_status(404, "not found"));
  EXPECT_EQ(outcome_, "not_found: pod team/w-0 does not exist");
  begin();
  server_.reply(200, annotated_pod("u1"));
  server_.reply(404, annotate_status(404, "not found"));
  EXPECT_EQ(outcome_, "not_found: pod team/w-0 does not exist");
}

TEST_F(Annotates, RefusalsAreFinalAndOverloadIsNot) {
  begin();
  server_.reply(200, annotated_pod("u1"));
  server_.reply(403, annotate_status(403, "pods is forbidden"));
  EXPECT_EQ(outcome_,
            "invalid_argument: the API server does not let chipweave annotate pod team/w-0 (HTTP "
            "403): pods is forbidden");
  begin();
  server_.reply(429, "too many requests");
  for (int tries = 0; tries < 20 && answers_ < 2; ++tries) {
    server_.pass_time();
    if (answers_ < 2) server_.reply(503, annotate_status(503, "busy"));
  }
  EXPECT_EQ(outcome_, "unavailable: pod team/w-0 could not be annotated in time: busy");
}

TEST_F(Annotates, NothingWithAnImpossibleName) {
  begin("../nodes");
  EXPECT_EQ(server_.target, "wait 0");
  server_.pass_time();
  EXPECT_EQ(outcome_, "invalid_argument: the name of the namespace or pod is invalid");
}

}  // namespace
}  // namespace chipweave::kube
