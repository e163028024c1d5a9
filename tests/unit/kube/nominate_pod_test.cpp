// A nomination is one patch of the pod's status, with every kind of answer of the API server.
#include "common/kube/nominate_pod.hpp"

#include <gtest/gtest.h>

#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

class Nominates : public testing::Test {
 protected:
  void begin(const std::string& node = "n1", const std::string& name = "w-0") {
    ticket_ = nominate_pod(server_, {"team", name, "u1", node, [this] { return leads_; }},
                           [this](const Result<void>& result) {
                             ++answers_;
                             outcome_ =
                                 result ? "done" : std::string(to_string(result.error().code));
                           });
  }
  std::string answered(int status) {
    begin();
    server_.reply(status, R"({"kind":"Status","message":"so"})");
    return outcome_;
  }
  bool leads_ = true;
  ScriptedTransport server_;
  std::unique_ptr<Ticket> ticket_;
  std::string outcome_;
  int answers_ = 0;
};

TEST_F(Nominates, InOnePatchOfTheStatus) {
  begin();
  EXPECT_EQ(server_.target, "PATCH /api/v1/namespaces/team/pods/w-0/status");
  EXPECT_EQ(server_.content_type, "application/merge-patch+json");
  EXPECT_EQ(server_.body, R"({"metadata":{"uid":"u1"},"status":{"nominatedNodeName":"n1"}})");
  server_.reply(200, "{}");
  EXPECT_EQ(outcome_, "done");
  EXPECT_EQ(answers_, 1);
}

TEST_F(Nominates, TellsWhatTheServerRefuses) {
  EXPECT_EQ(answered(404), to_string(Errc::not_found));
  EXPECT_EQ(answered(409), to_string(Errc::conflict));
  EXPECT_EQ(answered(422), to_string(Errc::conflict));
  EXPECT_EQ(answered(403), to_string(Errc::invalid_argument));
  EXPECT_EQ(answered(429), to_string(Errc::unavailable));
  EXPECT_EQ(answered(503), to_string(Errc::unavailable));
  begin();
  server_.fail(Errc::unavailable, "no connection");
  EXPECT_EQ(outcome_, to_string(Errc::unavailable));
}

TEST_F(Nominates, NothingIsSentByAReplicaThatDoesNotLead) {
  begin();
  leads_ = false;
  EXPECT_FALSE(server_.may_send());
  server_.fail(Errc::unavailable, "not sent");
  EXPECT_EQ(outcome_, to_string(Errc::not_sent));
}

TEST_F(Nominates, NorForNamesThatMeanSomethingInAPath) {
  for (const auto& [node, pod] : {std::pair("n1", "../x"), std::pair("n 1", "w-0")}) {
    begin(node, pod);
    server_.pass_time();
    EXPECT_EQ(outcome_, to_string(Errc::invalid_argument));
  }
}

}  // namespace
}  // namespace chipweave::kube
