#include "node-agent/publish/kube/node_events.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/manual_clock.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::agent {
namespace {

using Json = nlohmann::json;
using Kind = FaultChange::Kind;

struct NodeEventsTest : testing::Test {
  kube::ScriptedTransport server;
  ManualClock clock;
  NodeEvents events{server, clock, "n1"};

  static domain::Fault fault(domain::Effect effect) {
    domain::Fault out;
    out.code = "xid.79";
    out.effect = effect;
    out.chip = domain::ChipIndex{3};
    out.text = "fallen off the bus";
    return out;
  }
  // The event in flight, which is answered.
  Json taken() {
    EXPECT_EQ(server.target, "POST /apis/events.k8s.io/v1/namespaces/default/events");
    Json out = Json::parse(server.body);
    server.target.clear();
    server.reply(201, "{}");
    return out;
  }
};

TEST_F(NodeEventsTest, AFaultIsAWarningOnTheNode) {
  events.begin({});
  events.fault({Kind::raised, fault(domain::Effect::unusable)});
  const Json event = taken();
  EXPECT_EQ(event["regarding"],
            Json::parse(R"({"apiVersion":"v1","kind":"Node","name":"n1","uid":"n1"})"));
  EXPECT_EQ(event["type"], "Warning");
  EXPECT_EQ(event["reason"], "ChipUnusable");
  EXPECT_EQ(event["note"], "chip 3: xid.79 (fallen off the bus)");
  EXPECT_EQ(event["metadata"]["namespace"], "default");
  EXPECT_EQ(event["eventTime"], "2026-01-02T03:04:05.000000Z");
  EXPECT_EQ(event["reportingController"], "chipweave.dev/agent");
}

TEST_F(NodeEventsTest, EachEffectHasItsReasonAndItsEnd) {
  events.begin({});
  for (const auto& [effect, reason, type] :
       {std::tuple(domain::Effect::network, "ChipNetworkDown", "Warning"),
        std::tuple(domain::Effect::link, "LinkDown", "Warning"),
        std::tuple(domain::Effect::note, "HardwareNote", "Normal")}) {
    events.fault({Kind::raised, fault(effect)});
    const Json event = taken();
    EXPECT_EQ(event["reason"], reason);
    EXPECT_EQ(event["type"], type);
  }
  events.fault({Kind::cleared, fault(domain::Effect::unusable)});
  const Json event = taken();
  EXPECT_EQ(event["reason"], "FaultCleared");
  EXPECT_EQ(event["type"], "Normal");
  EXPECT_EQ(event["note"], "chip 3: xid.79 is over (fallen off the bus)");
  events.fault({Kind::cleared, fault(domain::Effect::note)});
  EXPECT_EQ(server.target, "");
}

TEST_F(NodeEventsTest, AFloodIsSlowedDownAndForgottenFromItsBeginning) {
  events.begin({});
  domain::Fault one = fault(domain::Effect::link);
  for (int i = 0; i < 1000; ++i) {
    one.port = i;
    events.fault({Kind::raised, one});
  }
  for (int i = 0; i < 25; ++i) taken();
  EXPECT_EQ(server.target, "wait 5001");
  clock.advance(server.waiting);
  server.pass_time();
  // After the first one the newest 256 were kept, 24 of which have been sent.
  EXPECT_EQ(taken()["note"], "chip 3 port 768: xid.79 (fallen off the bus)");
}

TEST_F(NodeEventsTest, WaitsForTheFaultsOfThePreviousRun) {
  domain::Fault other = fault(domain::Effect::unusable);
  other.chip = domain::ChipIndex{4};
  events.fault({Kind::raised, fault(domain::Effect::unusable)});
  events.fault({Kind::raised, other});
  EXPECT_EQ(server.target, "");
  events.begin({fault(domain::Effect::unusable)});
  EXPECT_EQ(taken()["note"], "chip 4: xid.79 (fallen off the bus)");
  EXPECT_EQ(server.target, "") << "chip 3 was reported";
  // It is cleared and raised again, which is a new event.
  events.fault({Kind::cleared, fault(domain::Effect::unusable)});
  EXPECT_EQ(taken()["reason"], "FaultCleared");
  events.fault({Kind::raised, fault(domain::Effect::unusable)});
  EXPECT_EQ(taken()["reason"], "ChipUnusable");
}

TEST_F(NodeEventsTest, AKnownFaultThatGotWorseHasAnEvent) {
  domain::Fault lanes = fault(domain::Effect::link);
  lanes.peer = domain::ChipIndex{5};
  lanes.lanes = 1;
  events.begin({fault(domain::Effect::network), lanes});
  events.fault({Kind::raised, fault(domain::Effect::unusable)});
  EXPECT_EQ(taken()["reason"], "ChipUnusable");
  lanes.lanes = 2;
  events.fault({Kind::raised, lanes});
  EXPECT_EQ(taken()["reason"], "LinkDown");
}

TEST_F(NodeEventsTest, ADriverMayBeSlowToSayItAgainButNotForEver) {
  domain::Fault other = fault(domain::Effect::network);
  other.code = "hccn.link-down";
  events.begin({fault(domain::Effect::unusable), other});
  clock.advance(std::chrono::minutes(2));
  events.fault({Kind::raised, other});
  EXPECT_EQ(server.target, "");
  clock.advance(std::chrono::minutes(2));
  events.fault({Kind::raised, fault(domain::Effect::unusable)});
  EXPECT_EQ(taken()["reason"], "ChipUnusable");
}

TEST_F(NodeEventsTest, AMachineInPiecesFillsNoMemoryWhileItWaits) {
  domain::Fault one = fault(domain::Effect::link);
  for (int i = 0; i < 1000; ++i) {
    one.port = i;
    events.fault({Kind::raised, one});
  }
  EXPECT_EQ(events.stats().dropped, 1000U - 256U);
  events.begin({});
  EXPECT_EQ(taken()["note"], "chip 3 port 744: xid.79 (fallen off the bus)");
}

TEST_F(NodeEventsTest, AFaultThatComesAndGoesIsCounted) {
  events.begin({});
  events.fault({Kind::raised, fault(domain::Effect::unusable)});
  EXPECT_EQ(taken()["reason"], "ChipUnusable");
  events.fault({Kind::cleared, fault(domain::Effect::unusable)});
  EXPECT_EQ(taken()["reason"], "FaultCleared");
  clock.advance(std::chrono::minutes(1));
  events.fault({Kind::raised, fault(domain::Effect::unusable)});
  EXPECT_TRUE(server.target.starts_with("PATCH ")) << server.target;
  EXPECT_EQ(Json::parse(server.body)["series"]["count"], 2);
}

}  // namespace
}  // namespace chipweave::agent
