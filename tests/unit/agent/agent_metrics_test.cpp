// What the driver measures and its events reach the metrics with the chips' own indices.
#include "common/domain/topology_builder.hpp"
#include "tests/unit/agent/agent_rig.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using testing::ElementsAre;
using testing::IsEmpty;

struct AgentMetricsTest : AgentTest {
  // Chips with ids, in the order in which the driver lists them.
  static Result<domain::Observation> machine(const std::vector<std::string>& ids) {
    domain::TopologyBuilder builder;
    builder.vendor = "nvidia";
    for (std::size_t i = 0; i < ids.size(); ++i) {
      domain::Chip chip;
      chip.index = ChipIndex{static_cast<int>(i)};
      chip.id = ids[i];
      builder.add_chip(std::move(chip));
    }
    return domain::Observation{"box", std::move(builder).build().value(), {}};
  }
  // The temperature of each chip is its index in the driver.
  void measure(int chips) {
    domain::MetricsSample sample;
    sample.taken_ms = 7;
    for (int i = 0; i < chips; ++i) {
      domain::ChipMetrics chip;
      chip.chip = ChipIndex{i};
      chip.temperature_celsius = i;
      sample.chips.push_back(chip);
    }
    probe.metrics = sample;
    agent.check();
  }
  // "index:temperature" of the newest sample.
  std::vector<std::string> newest() const {
    std::vector<std::string> out;
    for (const domain::ChipMetrics& chip : samples.back().chips) {
      out.push_back(std::to_string(chip.chip.value) + ":" +
                    std::to_string(static_cast<int>(*chip.temperature_celsius)));
    }
    return out;
  }
};

TEST_F(AgentMetricsTest, MeasurementsBeforeTheMachineIsKnownAreDropped) {
  probe.changed = false;
  ASSERT_TRUE(agent.start().ok());
  measure(2);
  EXPECT_THAT(samples, IsEmpty());
}

TEST_F(AgentMetricsTest, ChipsHaveTheirOwnIndices) {
  probe.answer = machine({"a", "b", "c"});
  ASSERT_TRUE(agent.start().ok());
  measure(3);
  EXPECT_THAT(newest(), ElementsAre("0:0", "1:1", "2:2"));
  EXPECT_EQ(samples.back().taken_ms, 7);
  probe.answer = machine({"a", "c"});
  probe.changed = true;
  agent.check();
  measure(2);
  EXPECT_THAT(newest(), ElementsAre("0:0", "2:1"));
}

TEST_F(AgentMetricsTest, ChipsThatTheMachineDoesNotHaveAreDropped) {
  probe.answer = machine({"a", "b"});
  ASSERT_TRUE(agent.start().ok());
  measure(5);
  EXPECT_THAT(newest(), ElementsAre("0:0", "1:1"));
}

TEST_F(AgentMetricsTest, EventsHaveTheChipsOwnIndices) {
  probe.answer = machine({"a", "b", "c"});
  ASSERT_TRUE(agent.start().ok());
  probe.answer = machine({"a", "c"});
  probe.changed = true;
  agent.check();
  probe.events = {{domain::SignalKind::event, "xid.31", ChipIndex{1}, std::nullopt, "", 0, ""}};
  agent.check();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].code, "xid.31");
  EXPECT_EQ(events[0].chip, ChipIndex{2});
}

}  // namespace
}  // namespace chipweave::agent
