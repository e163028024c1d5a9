// What the kubelet asks: claims over an API server that does not always answer.
#include "node-agent/dra/claims/claim_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/agent_dra/machine.hpp"
#include "tests/unit/agent_dra/memory_files.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::agent::dra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string claim_body(const std::string& uid, const std::vector<std::string>& devices) {
  std::string results;
  for (const std::string& device : devices)
    results += std::string(results.empty() ? "" : ",") +
               R"({"request":"a","driver":"gpu.chipweave.dev","pool":"n1","device":")" + device +
               R"("})";
  return R"({"metadata":{"uid":")" + uid + R"("},"status":{"allocation":{"devices":{"results":[)" +
         results + "]}}}}";
}

class ClaimServiceTest : public testing::Test {
 protected:
  ClaimServiceTest() {
    const NodeState state = two_islands();
    for (const domain::Chip& chip : state.topology.chips())
      host_.minors[chip.pci] = chip.index.value;
    want(state);
    service_.set_conflict("");
  }
  void want(const NodeState& state) { service_.want(std::make_shared<const NodeState>(state)); }
  void ask(std::vector<ClaimRef> claims) {
    answer_.reset();
    service_.prepare(std::move(claims),
                     [this](PreparedAnswer answer) { answer_ = std::move(answer); });
  }
  // One claim, whose GET has this answer.
  std::string outcome(const ClaimRef& ref, int status, const std::string& body) {
    ask({ref});
    transport_.reply(status, body);
    const auto& result = answer_->at(ref.uid);
    return result ? "prepared" : result.error().text();
  }

  kube::ScriptedTransport transport_;
  MemoryFiles files_;
  FakeHost host_;
  ClaimStore store_{files_, {kDriver, kNode, "/plugins/c.json", "/cdi"}};
  ClaimService service_{
      transport_, store_, host_, {kDriver, kNode, {}, "", std::chrono::seconds(5)}};
  std::optional<PreparedAnswer> answer_;
};

TEST_F(ClaimServiceTest, NamesTheDevicesForTheContainerRuntime) {
  ask({{"team", "c", "u1"}});
  EXPECT_EQ(transport_.target, "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/c");
  transport_.reply(200, claim_body("u1", {"gpu-3", "gpu-1"}));
  const auto& devices = answer_->at("u1").value();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].device, "gpu-3");
  EXPECT_EQ(devices[0].request, "a");
  EXPECT_EQ(devices[0].pool, "n1");
  EXPECT_THAT(devices[0].cdi, ElementsAre("gpu.chipweave.dev/claim=u1-gpu-3"));
  EXPECT_TRUE(files_.files.contains("/cdi/chipweave-gpu.chipweave.dev-u1.json"));
}

TEST_F(ClaimServiceTest, AnswersForEachClaim) {
  ask({{"team", "c", "u1"}, {"team", "../x", "u2"}, {"team", "d", "u3"}, {"team", "e", "u4"}});
  transport_.reply(200, claim_body("u1", {"gpu-0"}));
  transport_.reply(200, claim_body("u3", {"gpu-0"}));
  ASSERT_FALSE(answer_);
  transport_.pass_time();
  transport_.reply(200, claim_body("u3", {"gpu-0"}));
  ASSERT_FALSE(answer_);
  transport_.reply(200, claim_body("u4", {"gpu-4"}));
  ASSERT_TRUE(answer_);
  EXPECT_EQ(answer_->size(), 4U);
  EXPECT_TRUE(answer_->at("u1").ok());
  EXPECT_THAT(answer_->at("u2").error().text(), HasSubstr("no object can have"));
  EXPECT_THAT(answer_->at("u3").error().text(), HasSubstr("is prepared for the claim team/c (u1)"));
  EXPECT_TRUE(answer_->at("u4").ok());
}

TEST_F(ClaimServiceTest, RefusesWhatIsNotTheClaim) {
  EXPECT_THAT(outcome({"team", "c", "u1"}, 200, claim_body("u2", {"gpu-0"})),
              HasSubstr("another uid"));
  EXPECT_THAT(outcome({"team", "c", "u1"}, 404, "{}"), HasSubstr("does not exist"));
  EXPECT_THAT(outcome({"team", "c", "u1"}, 403, "{}"), HasSubstr("HTTP 403"));
  EXPECT_THAT(outcome({"team", "c", "u1"}, 200, "{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(outcome({"team", "c", "u1"}, 200, claim_body("u1", {})),
              HasSubstr("no devices are allocated"));
  std::vector<std::string> many(33, "gpu-0");
  EXPECT_THAT(outcome({"team", "c", "u1"}, 200, claim_body("u1", many)), HasSubstr("more than 32"));
  ask({{"team", "c", "u1"}});
  transport_.fail(Errc::unavailable, "no connection");
  EXPECT_THAT(answer_->at("u1").error().text(), HasSubstr("no connection"));
  EXPECT_TRUE(files_.files.empty());
}

TEST_F(ClaimServiceTest, EndsClaimsWithoutTheApiServer) {
  ASSERT_EQ(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-0"})), "prepared");
  transport_.target.clear();
  const EndedAnswer ended = service_.unprepare({{"team", "c", "u1"}, {"", "", "u9"}});
  EXPECT_TRUE(ended.at("u1").ok());
  EXPECT_TRUE(ended.at("u9").ok());
  EXPECT_EQ(transport_.target, "");
  EXPECT_EQ(outcome({"team", "d", "u2"}, 200, claim_body("u2", {"gpu-0"})), "prepared");
}

// The kubelet asks again only after a minute.
TEST_F(ClaimServiceTest, WaitsForAClaimThatIsEnding) {
  ASSERT_EQ(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-0"})), "prepared");
  ask({{"team", "d", "u2"}});
  transport_.reply(200, claim_body("u2", {"gpu-0", "gpu-1"}));
  EXPECT_FALSE(answer_);
  EXPECT_EQ(transport_.target, "wait 10000");
  service_.unprepare({{"team", "c", "u1"}});
  EXPECT_EQ(transport_.target, "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/d");
  EXPECT_EQ(transport_.in_flight(), 1);
  transport_.reply(200, claim_body("u2", {"gpu-0", "gpu-1"}));
  ASSERT_TRUE(answer_);
  EXPECT_TRUE(answer_->at("u2").ok());
}

TEST_F(ClaimServiceTest, WaitsForAChipNoLongerThanItsLimit) {
  ASSERT_EQ(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-0"})), "prepared");
  ASSERT_EQ(outcome({"team", "x", "u9"}, 200, claim_body("u9", {"gpu-7"})), "prepared");
  ask({{"team", "d", "u2"}});
  transport_.reply(200, claim_body("u2", {"gpu-0"}));
  transport_.time += std::chrono::seconds(4);
  // Another claim ends: the rest of the time is waited, not all of it again.
  service_.unprepare({{"team", "x", "u9"}});
  transport_.reply(200, claim_body("u2", {"gpu-0"}));
  EXPECT_EQ(transport_.target, "wait 6000");
  transport_.pass_time();
  ASSERT_FALSE(answer_);
  transport_.reply(200, claim_body("u2", {"gpu-0"}));
  ASSERT_TRUE(answer_);
  EXPECT_THAT(answer_->at("u2").error().text(), HasSubstr("is prepared for the claim team/c (u1)"));
  EXPECT_EQ(transport_.in_flight(), 0);
  // No caller waits any more.
  service_.unprepare({{"team", "c", "u1"}});
  EXPECT_EQ(transport_.in_flight(), 0);
}

TEST_F(ClaimServiceTest, WaitsForTheMachine) {
  ClaimService service(transport_, store_, host_, {kDriver, kNode, {}, ""});
  service.prepare({{"team", "c", "u1"}},
                  [this](PreparedAnswer answer) { answer_ = std::move(answer); });
  transport_.reply(200, claim_body("u1", {"gpu-0"}));
  EXPECT_FALSE(answer_);
  service.want(std::make_shared<const NodeState>(two_islands()));
  transport_.reply(200, claim_body("u1", {"gpu-0"}));
  EXPECT_FALSE(answer_) << "who else gives the chips away is not known yet";
  service.set_conflict("");
  transport_.reply(200, claim_body("u1", {"gpu-0"}));
  ASSERT_TRUE(answer_);
  EXPECT_TRUE(answer_->at("u1").ok());
}

TEST_F(ClaimServiceTest, KeepsAPreparedClaimWhoseChipBecomesUnhealthy) {
  ASSERT_EQ(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-5"})), "prepared");
  want(two_islands({5, 6}));
  service_.set_conflict("another driver");
  EXPECT_EQ(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-5"})), "prepared");
  EXPECT_THAT(outcome({"team", "d", "u2"}, 200, claim_body("u2", {"gpu-0"})),
              HasSubstr("another driver"));
  // Not if other devices are allocated by now.
  EXPECT_THAT(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-6"})), HasSubstr("xid.79"));
  EXPECT_THAT(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-5", "gpu-0"})),
              HasSubstr("xid.79"));
  EXPECT_THAT(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-0"})),
              HasSubstr("other devices"));
  service_.set_conflict("");
  EXPECT_THAT(outcome({"team", "d", "u2"}, 200, claim_body("u2", {"gpu-6"})), HasSubstr("xid.79"));
}

TEST_F(ClaimServiceTest, ChipsWithoutKnownNodesAreNotGiven) {
  NodeState state = two_islands();
  domain::TopologyBuilder builder;
  builder.vendor = "metax";
  builder.add_chip(bare_chip(0));
  state.topology = std::move(builder).build().value();
  want(state);
  EXPECT_THAT(outcome({"team", "c", "u1"}, 200, claim_body("u1", {"gpu-0"})),
              HasSubstr("set --dra-device-nodes"));
}

TEST_F(ClaimServiceTest, NoAnswerComesAfterItsEnd) {
  {
    ClaimService service(transport_, store_, host_,
                         {kDriver, kNode, {}, "", std::chrono::seconds(5)});
    service.prepare({{"team", "c", "u1"}}, [](const PreparedAnswer&) { FAIL(); });
    EXPECT_EQ(transport_.in_flight(), 1);
  }
  EXPECT_EQ(transport_.in_flight(), 0);
}

}  // namespace
}  // namespace chipweave::agent::dra
