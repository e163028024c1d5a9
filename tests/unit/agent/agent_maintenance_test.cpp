// An operator works on the machine: what looks broken meanwhile is not.
#include "tests/unit/agent/agent_rig.hpp"

#include <chrono>

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct AgentMaintenance : AgentTest {
  void order(std::optional<std::string> reason) {
    agent.maintenance(std::move(reason));
    agent.check();
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> out;
    for (const domain::Fault& fault : agent.state()->faults) out.push_back(fault.code);
    return out;
  }
};

TEST_F(AgentMaintenance, NothingIsOfferedAndTheHardwareIsLeftAlone) {
  begin();
  order("new driver");
  EXPECT_TRUE(probe.paused);
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
  ASSERT_THAT(codes(), ElementsAre("maintenance"));
  EXPECT_EQ(agent.state()->faults[0].text, "new driver");
  clock.advance(seconds(600));
  agent.check();
  EXPECT_THAT(codes(), ElementsAre("maintenance"));
  EXPECT_EQ(agent.blind(), "");
  order(std::nullopt);
  EXPECT_FALSE(probe.paused);
  ASSERT_THAT(codes(), ElementsAre("maintenance")) << "it is not known yet how the chips are";
  EXPECT_THAT(agent.state()->faults[0].text, HasSubstr("not been read yet"));
  see(domain::Observation{"box", ring_of_four(), {}});
  EXPECT_THAT(codes(), IsEmpty());
}

// Another program gives the chips away, too.
TEST_F(AgentMaintenance, ContestedChipsAreNotOffered) {
  begin();
  const auto contest = [this](const std::string& why) {
    agent.contested(why);
    agent.check();
  };
  contest("a device plugin gives them away");
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
  ASSERT_THAT(codes(), ElementsAre("chips.contested"));
  const std::int64_t since = agent.state()->faults[0].since;
  clock.advance(seconds(60));
  contest("a driver gives them away " + std::string(500, '!'));
  ASSERT_THAT(codes(), ElementsAre("chips.contested"));
  EXPECT_THAT(agent.state()->faults[0].text, testing::StartsWith("a driver"));
  EXPECT_LE(agent.state()->faults[0].text.size(), domain::kMaxFaultTextBytes);
  EXPECT_EQ(agent.state()->faults[0].since, since);
  contest("");
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 0);
}

TEST_F(AgentMaintenance, EventsThatComeAtItsBeginAreNotJudged) {
  begin();
  agent.maintenance("reset");
  probe.paused = false;  // it is about to end
  probe.events = {event("xid.79", 1)};
  agent.check();
  EXPECT_THAT(codes(), ElementsAre("maintenance"));
  order(std::nullopt);
  see(domain::Observation{"box", ring_of_four(), {}});
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_THAT(warnings, testing::Contains(HasSubstr("xid.79 of chip 1")));
}

// No moment in which chips of a broken driver are offered.
TEST_F(AgentMaintenance, WhatIsWrongAtItsEndCountsAtOnce) {
  begin();
  order("new driver");
  clock.advance(seconds(60));
  order(std::nullopt);
  probe.problem = ProbeTrouble{"probe.crashed", "the driver was unloaded"};
  agent.check();
  EXPECT_THAT(codes(), ElementsAre("probe.crashed"));
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
}

TEST_F(AgentMaintenance, ADriverThatFailsAfterItCountsAtOnce) {
  begin();
  order("new driver");
  order(std::nullopt);
  probe.answer = make_error(Errc::unavailable, "version mismatch");
  probe.changed = true;
  agent.check();
  EXPECT_THAT(codes(), ElementsAre("probe.failing"));
  EXPECT_NE(agent.blind(), "");
}

TEST_F(AgentMaintenance, WhatTheFirstReadingShowsIsJudged) {
  begin();
  order("reset");
  order(std::nullopt);
  domain::Observation seen{"box", ring_of_four(), {}};
  ASSERT_TRUE(seen.topology.take_down(0, 1, 1));
  see(seen);
  EXPECT_THAT(codes(), ElementsAre("link.down"));
}

TEST_F(AgentMaintenance, ANewOrderWhileItEndsGoesOnWithIt) {
  begin();
  order("reset");
  order(std::nullopt);
  order("once more");
  EXPECT_TRUE(probe.paused);
  EXPECT_EQ(agent.state()->faults[0].text, "once more");
}

TEST_F(AgentMaintenance, OfADeclaredMachineEndsAtOnce) {
  AgentOptions declared = options();
  declared.hardware = false;
  Agent of_file(declared, clock, probe, nullptr, {});
  ASSERT_TRUE(of_file.start().ok());
  of_file.maintenance("new rack");
  of_file.check();
  EXPECT_EQ(of_file.state()->topology.unhealthy().size(), 4);
  of_file.maintenance(std::nullopt);
  of_file.check();
  EXPECT_THAT(of_file.state()->faults, IsEmpty());
}

TEST_F(AgentMaintenance, AResetEndsWhatWasBeforeIt) {
  begin();
  probe.events = {event("xid.79", 1)};
  agent.check();
  EXPECT_THAT(codes(), ElementsAre("xid.79"));
  order("reset");
  order(std::nullopt);
  probe.events = {event("nvml.reset", 1)};
  see(domain::Observation{"box", ring_of_four(), {}});
  EXPECT_THAT(codes(), ElementsAre("nvml.reset"));
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 0);
}

TEST_F(AgentMaintenance, CountersThatRoseMeanwhileDoNotCount) {
  AgentOptions with_counter = options();
  domain::HealthRule rule;
  rule.code = "nvlink.crc";
  rule.effect = domain::Effect::unusable;
  rule.rise = 100;
  with_counter.policy.rules.push_back(rule);
  Agent counting(with_counter, clock, probe, nullptr, {});
  const auto count = [&](double value) {
    domain::Observation seen{"box", ring_of_four(), {}};
    seen.signals = {{domain::SignalKind::counter, "nvlink.crc", ChipIndex{0}, 1, "", value, ""}};
    probe.answer = seen;
    probe.changed = true;
    counting.check();
  };
  count(0);
  clock.advance(seconds(1));
  counting.maintenance("reset");
  counting.check();
  counting.maintenance(std::nullopt);
  count(1000);
  EXPECT_THAT(counting.state()->faults, IsEmpty());
  clock.advance(seconds(1));
  count(2000);
  EXPECT_EQ(counting.state()->faults.size(), 1U);
}

TEST_F(AgentMaintenance, OfThePreviousRunLastsUntilTheNodeIsRead) {
  domain::RememberedNode node;
  domain::Fault fault;
  fault.code = "maintenance";
  fault.effect = domain::Effect::unusable;
  fault.text = "new driver";
  fault.since = 7;
  node.faults = {{fault, ""}};
  node.topology = ring_of_four();
  agent.restore(node);
  ASSERT_TRUE(agent.start().ok());
  ASSERT_NE(agent.state(), nullptr) << "what the previous run knew";
  ASSERT_THAT(codes(), ElementsAre("maintenance"));
  EXPECT_EQ(agent.state()->faults[0].since, 7);
  EXPECT_TRUE(probe.paused);
  order(std::nullopt);
  see(domain::Observation{"box", ring_of_four(), {}});
  EXPECT_THAT(codes(), IsEmpty());
}

}  // namespace
}  // namespace chipweave::agent
