#include "tests/unit/agent/agent_rig.hpp"

#include <chrono>

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using testing::HasSubstr;

TEST_F(AgentTest, StartsWithTheMachineItsNamesAndFaults) {
  faults.answer = Result<domain::DeclaredFaults>(domain::DeclaredFaults{{ChipIndex{2}}, {}, {}});
  begin();
  EXPECT_EQ(agent.state()->machine, "box");
  EXPECT_EQ(agent.state()->resources.front(), "nvidia.com/gpu");
  EXPECT_EQ(agent.state()->topology.chip(1).id, "nvidia-n1-1");
  EXPECT_EQ(agent.state()->topology.chip(2).health, domain::Health::unhealthy);
}

TEST_F(AgentTest, WithoutADeclaredMachineThereIsNoStart) {
  probe.answer = make_error(Errc::not_found, "no such profile");
  AgentOptions declared = options();
  declared.hardware = false;
  const auto started = Agent(declared, clock, probe, nullptr, {}).start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "no such profile");
}

// A driver may respond later.
TEST_F(AgentTest, HardwareThatCannotBeReadIsNoReasonToEnd) {
  probe.answer = make_error(Errc::unavailable, "driver not loaded");
  EXPECT_TRUE(agent.start().ok());
  EXPECT_EQ(agent.state(), nullptr);
  EXPECT_THAT(warnings, testing::ElementsAre(HasSubstr("driver not loaded")));
}

TEST_F(AgentTest, ABadHealthFileAtStartIsAnError) {
  faults.answer = Result<domain::DeclaredFaults>(make_error(Errc::invalid_argument, "bad file"));
  EXPECT_FALSE(agent.start());
}

TEST_F(AgentTest, HandsOnChangesAndNothingElse) {
  begin();
  agent.check();
  EXPECT_TRUE(states.empty());
  say(domain::DeclaredFaults{{ChipIndex{3}}, {}, {}});
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0]->topology.chip(3).health, domain::Health::unhealthy);
  say(domain::DeclaredFaults{{ChipIndex{3}}, {}, {}});
  EXPECT_EQ(states.size(), 1U);
  say(domain::DeclaredFaults{});
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[1]->topology.chip(3).health, domain::Health::healthy);
}

TEST_F(AgentTest, ABadHealthFileKeepsTheLastGoodState) {
  begin();
  say(domain::DeclaredFaults{{ChipIndex{3}}, {}, {}});
  say(make_error(Errc::invalid_argument, "not JSON"));
  say(domain::DeclaredFaults{{ChipIndex{77}}, {}, {}});
  EXPECT_EQ(states.size(), 1U);
  EXPECT_EQ(agent.state()->topology.chip(3).health, domain::Health::unhealthy);
  EXPECT_EQ(agent.errors(), 2U);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_THAT(warnings[0], HasSubstr("not JSON"));
  EXPECT_THAT(warnings[1], HasSubstr("chip 77"));
}

TEST_F(AgentTest, AMachineThatChangesIsHandedOnWithItsFaults) {
  begin();
  say(domain::DeclaredFaults{{ChipIndex{3}}, {}, {}});
  probe.answer = domain::Observation{"new box", ring_of_four("amd"), {"links unknown"}};
  probe.changed = true;
  agent.check();
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[1]->machine, "new box");
  EXPECT_EQ(states[1]->resources.front(), "amd.com/gpu");
  EXPECT_EQ(states[1]->topology.chip(3).health, domain::Health::unhealthy);
  EXPECT_EQ(warnings, std::vector<std::string>{"links unknown"});
}

TEST_F(AgentTest, AProbeThatFailsKeepsTheLastGoodStateAndAges) {
  begin();
  clock.advance(std::chrono::seconds(2));
  agent.check();
  EXPECT_EQ(agent.age().count(), 0);
  probe.answer = make_error(Errc::unavailable, "half a file");
  probe.changed = true;
  agent.check();
  clock.advance(std::chrono::seconds(5));
  agent.check();
  EXPECT_EQ(agent.errors(), 1U);
  EXPECT_EQ(agent.age().count(), 5);
  EXPECT_EQ(agent.state()->machine, "box");
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0]->faults[0].code, "probe.failing");
  EXPECT_FALSE(urgencies[0]);
  probe.answer = domain::Observation{"box", ring_of_four(), {}};
  probe.changed = true;
  agent.check();
  EXPECT_EQ(agent.age().count(), 0);
}

TEST_F(AgentTest, AFaultOfThePolicyIsInTheStateAndEmitted) {
  begin();
  probe.events = {event("xid.79", 2), event("xid.13", 1)};
  agent.check();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0]->topology.chip(2).health, domain::Health::unhealthy);
  EXPECT_EQ(states[0]->topology.chip(1).health, domain::Health::healthy);
  ASSERT_EQ(states[0]->faults.size(), 2U);
  EXPECT_EQ(states[0]->faults[0].code, "xid.79");
  EXPECT_EQ(states[0]->faults[0].text, "broken");
  EXPECT_EQ(changes, (std::vector<std::string>{"raised xid.79", "raised xid.13"}));
  EXPECT_TRUE(urgencies[0]);
  // The note expires without a new observation; that is not urgent.
  clock.advance(std::chrono::seconds(11));
  agent.check();
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(changes.back(), "cleared xid.13");
  EXPECT_FALSE(urgencies[1]);
  agent.clear_faults(std::nullopt);
  agent.check();
  EXPECT_TRUE(agent.state()->faults.empty());
  EXPECT_EQ(agent.state()->topology.chip(2).health, domain::Health::healthy);
}

TEST_F(AgentTest, AnEventCountsThoughTheHardwareCannotBeReadAfterIt) {
  begin();
  probe.events = {event("xid.79", 2)};
  probe.answer = make_error(Errc::unavailable, "the driver cannot count its devices");
  probe.changed = true;
  agent.check();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0]->topology.chip(2).health, domain::Health::unhealthy);
  EXPECT_EQ(states[0]->topology.unhealthy().size(), 1);
}

TEST_F(AgentTest, EventsFromBeforeTheFirstObservationAreNotLost) {
  probe.changed = false;
  ASSERT_TRUE(agent.start().ok());
  probe.events = {event("xid.79", 2)};
  agent.check();
  EXPECT_EQ(agent.state(), nullptr);
  probe.changed = true;
  agent.check();
  ASSERT_NE(agent.state(), nullptr);
  EXPECT_EQ(agent.state()->topology.chip(2).health, domain::Health::unhealthy);
}

TEST_F(AgentTest, AResetThatAReadingHasNoticedEndsWhatWasBeforeIt) {
  begin();
  probe.events = {event("xid.79", 2)};
  agent.check();
  probe.events = {event("nvml.reset", 2)};
  see(domain::Observation{"box", ring_of_four(), {}});
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 0);
  // One that came with it may be newer.
  probe.events = {event("xid.79", 1), event("nvml.reset", 1)};
  agent.check();
  EXPECT_EQ(agent.state()->topology.chip(1).health, domain::Health::unhealthy);
}

TEST_F(AgentTest, AnEventOfAChipThatNobodyKnowsTakesAllOfThem) {
  begin();
  probe.events = {event("xid.79", 17)};
  agent.check();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0]->topology.unhealthy().size(), 4);
  EXPECT_THAT(states[0]->faults[0].text, HasSubstr("number 17"));
}

TEST_F(AgentTest, AChipThatIsGoneStaysAsUnhealthyAndTheOthersKeepTheirNumbers) {
  probe.answer = domain::Observation{"box", row_of({"A", "B", "C"}), {}};
  begin();
  see(domain::Observation{"box", row_of({"A", "C"}), {}});
  ASSERT_EQ(agent.state()->topology.chip_count(), 3);
  EXPECT_EQ(agent.state()->topology.chip(1).health, domain::Health::unhealthy);
  EXPECT_EQ(agent.state()->topology.chip(2).id, "C");
  EXPECT_EQ(changes, (std::vector<std::string>{"raised chip.gone"}));
  see(domain::Observation{"box", row_of({"A", "B", "C"}), {}});
  clock.advance(std::chrono::seconds(11));
  agent.check();
  EXPECT_EQ(agent.state()->topology.chip(1).health, domain::Health::healthy);
}

TEST_F(AgentTest, AProbeThatIsNotReadyGivesTheFirstStateLater) {
  probe.changed = false;
  const auto started = agent.start();
  ASSERT_TRUE(started.ok());
  EXPECT_EQ(agent.state(), nullptr);
  agent.check();
  EXPECT_EQ(agent.state(), nullptr);
  clock.advance(std::chrono::seconds(3));
  EXPECT_EQ(agent.age().count(), 3);
  probe.changed = true;
  agent.check();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_TRUE(urgencies[0]);
  EXPECT_EQ(agent.age().count(), 0);
}

TEST_F(AgentTest, AProbeInTroubleIsAFaultAndItsTruthAges) {
  begin();
  probe.problem = ProbeTrouble{"probe.stuck", "no answer"};
  clock.advance(std::chrono::seconds(7));
  agent.check();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0]->faults[0].code, "probe.stuck");
  EXPECT_FALSE(urgencies[0]);
  EXPECT_EQ(agent.age().count(), 7);
  EXPECT_EQ(agent.errors(), 1U);
  agent.check();
  EXPECT_EQ(states.size(), 1U);
  EXPECT_EQ(agent.errors(), 1U);
  probe.problem.reset();
  agent.check();
  EXPECT_EQ(changes, (std::vector<std::string>{"raised probe.stuck", "cleared probe.stuck"}));
  EXPECT_EQ(agent.age().count(), 0);
}

TEST_F(AgentTest, AnOperatorTakesChipsOutOfService) {
  begin();
  agent.cordon({false, {ChipIndex{1}, ChipIndex{77}}});
  agent.check();
  EXPECT_EQ(agent.state()->topology.chip(1).health, domain::Health::unhealthy);
  EXPECT_EQ(changes, (std::vector<std::string>{"raised cordoned"}));
  agent.cordon({true, {}});
  agent.check();
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
  agent.cordon({});
  agent.check();
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 0);
}

TEST_F(AgentTest, ALinkOfTheHealthFileGoesDownBesidesWhatIsDown) {
  domain::Observation seen{"box", ring_of_four(), {}};
  ASSERT_TRUE(seen.topology.take_down(0, 1, 1));
  probe.answer = seen;
  begin();
  EXPECT_EQ(agent.state()->topology.link(0, 1)->lanes_down, 1);
  say(domain::DeclaredFaults{{}, {}, {{ChipIndex{1}, ChipIndex{0}, 1}}});
  EXPECT_EQ(agent.state()->topology.link(0, 1)->lanes_down, 2);
}

}  // namespace
}  // namespace chipweave::agent
