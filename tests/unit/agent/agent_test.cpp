#include "node-agent/app/agent.hpp"

#include <chrono>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/agent/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using testing::HasSubstr;

struct FakeProbe final : Probe {
  Result<domain::Observation> answer = domain::Observation{"box", ring_of_four(), {}};
  bool changed = false;
  int asked = 0;
  Result<domain::Observation> discover() override {
    ++asked;
    changed = false;
    return answer;
  }
  bool changes() override { return changed; }
};

struct FakeFaults final : FaultSource {
  std::optional<Result<domain::Faults>> answer = Result<domain::Faults>(domain::Faults{});
  std::optional<Result<domain::Faults>> changes() override {
    return std::exchange(answer, std::nullopt);
  }
};

struct AgentTest : testing::Test {
  ManualClock clock;
  FakeProbe probe;
  FakeFaults faults;
  std::vector<std::string> warnings;
  std::vector<NodeStatePtr> states;
  Agent agent{
      {"n1", {}}, clock, probe, &faults, [this](const std::string& w) { warnings.push_back(w); }};

  void begin() {
    const auto started = agent.start();
    ASSERT_TRUE(started) << started.error().text();
    agent.on_state = [this](const NodeStatePtr& s) { states.push_back(s); };
  }
  void say(Result<domain::Faults> what) {
    faults.answer = std::move(what);
    agent.check();
  }
};

TEST_F(AgentTest, StartsWithTheMachineItsNamesAndFaults) {
  faults.answer = Result<domain::Faults>(domain::Faults{{ChipIndex{2}}, {}, {}});
  begin();
  EXPECT_EQ(agent.state()->machine, "box");
  EXPECT_EQ(agent.state()->resources.front(), "nvidia.com/gpu");
  EXPECT_EQ(agent.state()->topology.chip(1).id, "nvidia-n1-1");
  EXPECT_EQ(agent.state()->topology.chip(2).health, domain::Health::unhealthy);
}

TEST_F(AgentTest, WithoutAMachineThereIsNoStart) {
  probe.answer = make_error(Errc::not_found, "no accelerators");
  const auto started = agent.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "no accelerators");
}

TEST_F(AgentTest, ABadHealthFileAtStartIsAnError) {
  faults.answer = Result<domain::Faults>(make_error(Errc::invalid_argument, "bad file"));
  EXPECT_FALSE(agent.start());
}

TEST_F(AgentTest, HandsOnChangesAndNothingElse) {
  begin();
  agent.check();
  EXPECT_TRUE(states.empty());
  say(domain::Faults{{ChipIndex{3}}, {}, {}});
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0]->topology.chip(3).health, domain::Health::unhealthy);
  say(domain::Faults{{ChipIndex{3}}, {}, {}});
  EXPECT_EQ(states.size(), 1U);
  say(domain::Faults{});
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[1]->topology.chip(3).health, domain::Health::healthy);
}

TEST_F(AgentTest, ABadHealthFileKeepsTheLastGoodState) {
  begin();
  say(domain::Faults{{ChipIndex{3}}, {}, {}});
  say(make_error(Errc::invalid_argument, "not JSON"));
  say(domain::Faults{{ChipIndex{77}}, {}, {}});
  EXPECT_EQ(states.size(), 1U);
  EXPECT_EQ(agent.state()->topology.chip(3).health, domain::Health::unhealthy);
  EXPECT_EQ(agent.errors(), 2U);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_THAT(warnings[0], HasSubstr("not JSON"));
  EXPECT_THAT(warnings[1], HasSubstr("chip 77"));
}

TEST_F(AgentTest, AMachineThatChangesIsHandedOnWithItsFaults) {
  begin();
  say(domain::Faults{{ChipIndex{3}}, {}, {}});
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
  EXPECT_TRUE(states.empty());
  probe.answer = domain::Observation{"box", ring_of_four(), {}};
  probe.changed = true;
  agent.check();
  EXPECT_EQ(agent.age().count(), 0);
}

}  // namespace
}  // namespace chipweave::agent
