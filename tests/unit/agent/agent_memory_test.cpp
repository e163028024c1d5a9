// What an agent that starts goes on from: the inventory that its previous run has left.
#include "tests/unit/agent/agent_rig.hpp"

#include <chrono>

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Health;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

domain::RememberedFault remembered(const std::string& code, int chip, const std::string& id) {
  domain::Fault fault;
  fault.code = code;
  fault.effect = Effect::unusable;
  fault.chip = ChipIndex{chip};
  fault.since = 5;
  return {std::move(fault), id};
}

domain::RememberedNode memory(std::vector<domain::RememberedFault> faults) {
  domain::RememberedNode out;
  out.faults = std::move(faults);
  out.same_boot = true;
  return out;
}

domain::RememberedNode memory(domain::NodeTopology topology,
                              std::vector<domain::RememberedFault> faults = {}) {
  domain::RememberedNode out = memory(std::move(faults));
  out.machine = "box";
  out.topology = std::move(topology);
  return out;
}

struct AgentMemory : AgentTest {
  // Names of all chips by index, "-" for one that no pod gets.
  std::string chips() const {
    std::string out;
    for (const domain::Chip& chip : agent.state()->topology.chips()) {
      out += std::to_string(chip.index.value) + chip.id +
             (chip.health == Health::healthy ? " " : "- ");
    }
    return out;
  }
  void check_after(std::chrono::seconds time) {
    clock.advance(time);
    agent.check();
  }
};

TEST_F(AgentMemory, FaultsOfAnEarlierRunAreHeldOnTheSameChip) {
  begin();
  agent.restore(memory(
      {remembered("xid.79", 7, "nvidia-n1-3"), remembered("xid.79", 0, "GPU-that-was-replaced")}));
  agent.check();
  ASSERT_EQ(agent.state()->faults.size(), 1U);
  EXPECT_EQ(agent.state()->faults[0].chip, ChipIndex{3});
  EXPECT_EQ(agent.state()->topology.chip(3).health, Health::unhealthy);
  EXPECT_EQ(agent.state()->faults[0].since, 5);
}

TEST_F(AgentMemory, ABootEndsWhatHardwareWasHeldFor) {
  auto node = memory({remembered("xid.79", 3, "nvidia-n1-3")});
  node.same_boot = false;
  agent.restore(std::move(node));
  begin();
  EXPECT_THAT(agent.state()->faults, IsEmpty());
}

// The command was given while no agent ran; it arrives before the faults of the previous run are
// known.
TEST_F(AgentMemory, WhatIsClearedFirstIsNotHeldFromAnEarlierRun) {
  begin();
  agent.clear_faults(ChipIndex{3});
  agent.check();
  agent.restore(
      memory({remembered("xid.79", 3, "nvidia-n1-3"), remembered("xid.79", 2, "nvidia-n1-2")}));
  agent.check();
  ASSERT_EQ(agent.state()->faults.size(), 1U);
  EXPECT_EQ(agent.state()->faults[0].chip, ChipIndex{2});
}

TEST_F(AgentMemory, WhenAllIsClearedFirstNothingIsHeldFromAnEarlierRun) {
  begin();
  agent.clear_faults(std::nullopt);
  agent.restore(
      memory({remembered("xid.79", 3, "nvidia-n1-3"), remembered("xid.79", 3, "nvidia-n1-2")}));
  agent.check();
  EXPECT_THAT(agent.state()->faults, IsEmpty());
}

// A chip fell off the bus while no agent ran: the driver numbers the others from 0.
TEST_F(AgentMemory, AMissingChipStaysListedAndTheOthersKeepTheirNumbers) {
  probe.answer = domain::Observation{"box", row_of({"A", "C", "D"}), {}};
  agent.restore(memory(row_of({"A", "B", "C", "D"})));
  begin();
  EXPECT_EQ(chips(), "0A 1B- 2C 3D ");
  probe.events = {event("xid.79", 2)};  // the driver's number
  agent.check();
  EXPECT_EQ(chips(), "0A 1B- 2C 3D- ");
}

// The same if the memory comes after the first state, and after a fault.
TEST_F(AgentMemory, MayComeLate) {
  probe.answer = domain::Observation{"box", row_of({"A", "C", "D"}), {}};
  begin();
  probe.events = {event("xid.79", 2)};
  agent.check();
  EXPECT_EQ(chips(), "0A 1C 2D- ");
  agent.restore(memory(row_of({"A", "B", "C", "D"})));
  agent.check();
  EXPECT_EQ(chips(), "0A 1B- 2C 3D- ");
  probe.events = {event("xid.79", 1)};
  agent.check();
  EXPECT_EQ(chips(), "0A 1B- 2C- 3D- ");
  see(domain::Observation{"box", row_of({"A", "B", "C", "D"}), {}});
  check_after(std::chrono::seconds(11));
  EXPECT_EQ(chips(), "0A 1B 2C- 3D- ");
}

TEST_F(AgentMemory, OfAnotherMachineIsNotUsed) {
  probe.answer = domain::Observation{"box", row_of({"A", "E"}), {}};
  agent.restore(memory(row_of({"A", "B", "C", "D"}), {remembered("xid.79", 3, "D")}));
  begin();
  EXPECT_EQ(chips(), "0A 1E ");
}

TEST_F(AgentMemory, OfADeclaredMachineDoesNotNumberIt) {
  AgentOptions declared = options();
  declared.hardware = false;
  probe.answer = domain::Observation{"box", row_of({"A", "C"}), {}};
  Agent agent_of_file(declared, clock, probe, nullptr, {});
  agent_of_file.restore(memory(row_of({"A", "B", "C"})));
  ASSERT_TRUE(agent_of_file.start().ok());
  EXPECT_EQ(agent_of_file.state()->topology.chip_count(), 2);
}

// What operators take out for good is forgotten on their command.
TEST_F(AgentMemory, ChipsThatAreGoneAreForgottenOnCommand) {
  probe.answer = domain::Observation{"box", row_of({"A", "D"}), {}};
  agent.restore(memory(row_of({"A", "B", "C", "D"})));
  begin();
  EXPECT_EQ(chips(), "0A 1B- 2C- 3D ");
  agent.clear_faults(ChipIndex{1});
  agent.check();
  EXPECT_EQ(chips(), "0A 2C- 3D ");
  agent.clear_faults(std::nullopt);
  agent.check();
  EXPECT_EQ(chips(), "0A 3D ");
  EXPECT_THAT(agent.state()->faults, IsEmpty());
  see(domain::Observation{"box", row_of({"A", "D"}), {}});
  EXPECT_EQ(chips(), "0A 3D ");
  EXPECT_THAT(warnings, IsEmpty());
}

// The number of a forgotten chip stays free until the node boots.
TEST_F(AgentMemory, AfterABootAForgottenChipLeavesNoGap) {
  probe.answer = domain::Observation{"box", row_of({"A", "B", "C"}), {}};
  begin();
  see(domain::Observation{"box", row_of({"A", "C"}), {}});
  agent.clear_faults(std::nullopt);
  agent.check();
  EXPECT_EQ(chips(), "0A 2C ");
  for (const bool same_boot : {true, false}) {
    auto node = memory(agent.state()->topology);
    node.same_boot = same_boot;
    probe.changed = true;
    Agent next(options(), clock, probe, nullptr, {});
    next.restore(std::move(node));
    ASSERT_TRUE(next.start().ok());
    EXPECT_EQ(next.state()->topology.chip(1).index.value, same_boot ? 2 : 1);
  }
}

TEST_F(AgentMemory, WhatWasHeldForATimeIsHeldForTheRestOfIt) {
  auto fault = remembered("chip.gone", 1, "B");
  fault.fault.held_until =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch())
          .count() +
      7'000;
  probe.answer = domain::Observation{"box", row_of({"A", "B"}), {}};
  agent.restore(memory(row_of({"A", "B"}), {fault}));
  begin();
  EXPECT_EQ(chips(), "0A 1B- ");
  EXPECT_EQ(agent.state()->faults[0].held_until, fault.fault.held_until);
  check_after(std::chrono::seconds(6));
  EXPECT_EQ(chips(), "0A 1B- ");
  check_after(std::chrono::seconds(2));
  EXPECT_EQ(chips(), "0A 1B ");
}

TEST_F(AgentMemory, ACordonIsInForceUntilTheOrdersAreRead) {
  agent.restore(memory(row_of({"A", "B", "C"}), {remembered("cordoned", 1, "B")}));
  probe.answer = domain::Observation{"box", row_of({"A", "B", "C"}), {}};
  begin();
  EXPECT_EQ(chips(), "0A 1B- 2C ");
  EXPECT_EQ(agent.state()->faults[0].since, 5);
  agent.cordon({false, {ChipIndex{2}}}, false);
  agent.check();
  EXPECT_EQ(chips(), "0A 1B- 2C- ") << "one of two sources";
  agent.cordon({}, true);
  agent.check();
  EXPECT_EQ(chips(), "0A 1B 2C ");
}

TEST_F(AgentMemory, ACordonThatWasReadAlreadyCountsMore) {
  probe.answer = domain::Observation{"box", row_of({"A", "B"}), {}};
  begin();
  agent.cordon({}, true);
  auto node = memory(row_of({"A", "B"}), {remembered("cordoned", 1, "B")});
  node.same_boot = false;
  agent.restore(std::move(node));
  agent.check();
  EXPECT_EQ(chips(), "0A 1B ");
}

TEST_F(AgentMemory, ACordonOutlivesABoot) {
  auto node = memory(row_of({"A", "B"}), {remembered("cordoned", 1, "B")});
  node.same_boot = false;
  agent.restore(std::move(node));
  probe.answer = domain::Observation{"box", row_of({"A", "B"}), {}};
  begin();
  EXPECT_EQ(chips(), "0A 1B- ");
}

// Nothing that was known is lost, and nothing is offered, not even for a moment.
TEST_F(AgentMemory, IsWhatIsReportedWhileTheDriverFails) {
  probe.answer = make_error(Errc::unavailable, "version mismatch");
  agent.restore(memory(row_of({"A", "B", "C"})));
  ASSERT_TRUE(agent.start().ok());
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(chips(), "0A- 1B- 2C- ");
  EXPECT_EQ(agent.state()->topology.link(0, 1)->lanes_down, 0);
  EXPECT_THAT(agent.blind(), HasSubstr("version mismatch"));
  see(domain::Observation{"box", row_of({"A", "C"}), {}});
  check_after(std::chrono::seconds(11));
  EXPECT_EQ(chips(), "0A 1B- 2C ");
  EXPECT_EQ(agent.blind(), "");
}

TEST_F(AgentMemory, IsWhatIsReportedWhenTheDriverDoesNotAnswerInTime) {
  probe.changed = false;
  agent.restore(memory(row_of({"A", "B"})));
  ASSERT_TRUE(agent.start().ok());
  check_after(std::chrono::seconds(29));
  EXPECT_EQ(agent.state(), nullptr);
  check_after(std::chrono::seconds(1));
  ASSERT_NE(agent.state(), nullptr);
  EXPECT_EQ(chips(), "0A- 1B- ");
  EXPECT_THAT(agent.blind(), HasSubstr("probe.starting"));
}

// The bus shows chips without ids and links; the memory has both.
TEST_F(AgentMemory, CountsMoreThanTheBus) {
  domain::Observation bus{"bus", row_of({"A", "B"}), {}};
  bus.basis = domain::Basis::bus;
  bus.signals = {
      {domain::SignalKind::state, "driver.absent", std::nullopt, std::nullopt, "", 0, "no driver"}};
  probe.answer = bus;
  agent.restore(memory(row_of({"A", "B", "C"})));
  ASSERT_TRUE(agent.start().ok());
  EXPECT_EQ(chips(), "0A- 1B- 2C- ");
  EXPECT_THAT(agent.blind(), HasSubstr("no driver"));
}

TEST_F(AgentMemory, CountsMoreThanTheBusAlsoIfItComesLate) {
  domain::Observation bus{"bus", row_of({"A", "B"}), {}};
  bus.basis = domain::Basis::bus;
  bus.signals = {
      {domain::SignalKind::state, "driver.absent", std::nullopt, std::nullopt, "", 0, "no driver"}};
  probe.answer = bus;
  ASSERT_TRUE(agent.start().ok());
  EXPECT_EQ(chips(), "0A- 1B- ");
  agent.restore(memory(row_of({"A", "B", "C"})));
  agent.check();
  EXPECT_EQ(chips(), "0A- 1B- 2C- ");
  EXPECT_THAT(agent.blind(), HasSubstr("no driver"));
  see(domain::Observation{"box", row_of({"A", "B", "C"}), {}});
  check_after(std::chrono::seconds(11));
  EXPECT_EQ(chips(), "0A 1B 2C ");
}

// All chips are gone: without the memory, this would be a node without accelerators.
TEST_F(AgentMemory, TellsAMachineThatIsGoneFromOneThatHasNone) {
  probe.answer = make_error(Errc::not_found, "no accelerators here");
  agent.restore(memory(row_of({"A", "B"})));
  ASSERT_TRUE(agent.start().ok());
  EXPECT_EQ(chips(), "0A- 1B- ");
  EXPECT_EQ(agent.state()->faults[0].code, "machine.gone");
}

TEST_F(AgentMemory, CountsOnce) {
  begin();
  agent.restore(domain::RememberedNode());
  agent.restore(memory({remembered("xid.79", 3, "nvidia-n1-3")}));
  agent.check();
  EXPECT_THAT(agent.state()->faults, IsEmpty());
}

}  // namespace
}  // namespace chipweave::agent
