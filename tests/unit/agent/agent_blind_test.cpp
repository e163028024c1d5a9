// What the agent reports while its hardware does not respond.
#include "tests/unit/agent/agent_rig.hpp"

#include <chrono>

#include "common/domain/topology_builder.hpp"

namespace chipweave::agent {
namespace {

TEST_F(AgentTest, ADriverThatListsNothingAnyMoreIsAFaultOfTheMachine) {
  begin();
  probe.answer = make_error(Errc::not_found, "no GPU");
  probe.changed = true;
  agent.check();
  ASSERT_EQ(agent.state()->faults.size(), 1U);
  EXPECT_EQ(agent.state()->faults[0].code, "machine.gone");
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
  clock.advance(std::chrono::seconds(9));
  agent.check();
  EXPECT_EQ(agent.age().count(), 9);
  see(domain::Observation{"box", ring_of_four(), {}});
  EXPECT_TRUE(agent.state()->faults.empty());
}

TEST_F(AgentTest, ADriverThatDoesNotWorkIsNoted) {
  begin();
  probe.answer = make_error(Errc::unavailable, "driver not loaded");
  probe.changed = true;
  agent.check();
  ASSERT_EQ(agent.state()->faults.size(), 1U);
  EXPECT_EQ(agent.state()->faults[0].code, "probe.failing");
  EXPECT_EQ(agent.state()->faults[0].text, "driver not loaded");
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 0);
}

TEST_F(AgentTest, ADriverThatStaysAwayTakesTheNodeAfterAWhile) {
  begin();
  probe.problem = ProbeTrouble{"probe.stuck", "no answer"};
  agent.check();
  EXPECT_EQ(agent.blind(), "");
  // What it is called changes, and it works for moments in between.
  for (int i = 0; i < 6; ++i) {
    clock.advance(std::chrono::seconds(4));
    probe.problem = ProbeTrouble{i % 2 == 0 ? "probe.crashed" : "probe.stuck", "no answer"};
    agent.check();
    EXPECT_EQ(agent.state()->topology.unhealthy().size(), 0) << i;
    clock.advance(std::chrono::seconds(1));
    probe.problem.reset();
    agent.check();
  }
  probe.problem = ProbeTrouble{"probe.crashed", "signal 11"};
  agent.check();
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
  EXPECT_TRUE(urgencies.back());
  EXPECT_EQ(agent.blind(), "the hardware does not respond: probe.crashed: signal 11");
  EXPECT_FALSE(agent.state()->conditions.back().holds);
  probe.problem.reset();
  agent.check();
  clock.advance(std::chrono::seconds(11));
  agent.check();
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 0);
  EXPECT_EQ(agent.blind(), "");
}

domain::Observation of_bus(domain::Basis basis) {
  domain::Observation out{"bus", ring_of_four(), {}};
  out.basis = basis;
  out.signals = {{domain::SignalKind::state, "driver.failing", std::nullopt, std::nullopt, "", 0,
                  "version mismatch"}};
  return out;
}

TEST_F(AgentTest, WhatTheBusShowsIsNotOfferedAndReplacedByTheDriver) {
  probe.answer = of_bus(domain::Basis::bus);
  ASSERT_TRUE(agent.start().ok());
  ASSERT_NE(agent.state(), nullptr);
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
  EXPECT_EQ(agent.blind(), "the hardware does not respond: driver.failing: version mismatch");
  see(domain::Observation{"box", ring_of_four(), {}});
  EXPECT_EQ(agent.state()->machine, "box");
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 0);
}

// Of chips without ids, which are known by their address.
domain::TopologyBuilder chips_at(const std::vector<std::string>& buses) {
  domain::TopologyBuilder out;
  out.vendor = "amd";
  for (std::size_t i = 0; i < buses.size(); ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{static_cast<int>(i)};
    chip.pci = "0000:" + buses[i] + ":00.0";
    out.add_chip(std::move(chip));
  }
  return out;
}

// The bus shows no links and numbers chips by their addresses.
TEST_F(AgentTest, TheDriversWiringAndNumbersReplaceTheBusView) {
  probe.answer = of_bus(domain::Basis::bus);
  probe.answer->topology = chips_at({"01", "02", "03"}).build().value();
  ASSERT_TRUE(agent.start().ok());
  ASSERT_NE(agent.state(), nullptr);
  domain::TopologyBuilder driver = chips_at({"03", "02", "01"});
  driver.add_link(domain::ChipIndex{0}, domain::ChipIndex{1}, domain::LinkKind::xgmi, 1, 50);
  see(domain::Observation{"box", std::move(driver).build().value(), {}});
  EXPECT_EQ(agent.state()->topology.chip(0).pci, "0000:03:00.0");
  EXPECT_NE(agent.state()->topology.link(0, 1), nullptr);
}

TEST_F(AgentTest, WhatTheBusShowsDoesNotReplaceWhatTheDriverReported) {
  begin();
  see(of_bus(domain::Basis::starting));
  EXPECT_TRUE(states.empty());
  see(of_bus(domain::Basis::bus));
  EXPECT_EQ(agent.state()->machine, "box");
  ASSERT_EQ(agent.state()->faults.size(), 1U);
  EXPECT_EQ(agent.state()->faults[0].code, "probe.failing");
  EXPECT_EQ(agent.state()->faults[0].text, "version mismatch");
  clock.advance(std::chrono::seconds(30));
  agent.check();
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
}

TEST_F(AgentTest, WhileTheDriverStartsTheBusIsNotReported) {
  probe.answer = of_bus(domain::Basis::starting);
  ASSERT_TRUE(agent.start().ok());
  clock.advance(std::chrono::seconds(29));
  agent.check();
  EXPECT_EQ(agent.state(), nullptr);
  EXPECT_EQ(agent.blind(), "the hardware has not responded yet");
  clock.advance(std::chrono::seconds(1));
  agent.check();
  ASSERT_NE(agent.state(), nullptr);
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
}

TEST_F(AgentTest, ADriverThatHangsFromTheStartLeavesTheBus) {
  probe.answer = of_bus(domain::Basis::starting);
  ASSERT_TRUE(agent.start().ok());
  probe.problem = ProbeTrouble{"probe.crashed", "signal 11"};
  agent.check();
  ASSERT_NE(agent.state(), nullptr);
  EXPECT_EQ(agent.state()->topology.unhealthy().size(), 4);
}

TEST_F(AgentTest, TroubleBeforeTheFirstStateIsInTheLog) {
  probe.changed = false;
  ASSERT_TRUE(agent.start().ok());
  probe.problem = ProbeTrouble{"probe.absent", "no program"};
  agent.check();
  agent.check();
  EXPECT_EQ(warnings, std::vector<std::string>{"probe.absent: no program"});
}

}  // namespace
}  // namespace chipweave::agent
