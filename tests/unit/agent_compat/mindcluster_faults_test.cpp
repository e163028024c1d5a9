#include "common/codec/mindcluster/faults/reported_faults.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/agent/profile_states.hpp"

namespace chipweave::agent {
namespace {

namespace mc = codec::mindcluster;
using domain::Effect;
using domain::Fault;

domain::Fault with_text(domain::Fault fault, const std::string& text) {
  fault.text = text;
  return fault;
}
domain::Fault of_machine(const std::string& code, Effect effect) {
  domain::Fault out = fault_of(0, code, effect);
  out.chip.reset();
  return out;
}

class ChipFaults : public testing::Test {
 protected:
  std::vector<mc::ChipFault> faults(const std::vector<Fault>& of) {
    return mc::chip_faults_of(mc::AscendNames(machine_.topology), of);
  }
  NodeState machine_ = profile("ascend-910b-8");
};

TEST_F(ChipFaults, LevelsFollowFromTheEffect) {
  const std::vector<std::tuple<Effect, std::string, std::string_view>> table = {
      {Effect::note, "NotHandleFault", mc::kCardUnhealthy},
      {Effect::link, "SubHealthFault", mc::kCardUnhealthy},
      {Effect::network, "PreSeparateNPU", mc::kCardNetworkUnhealthy},
      {Effect::unusable, "SeparateNPU", mc::kCardUnhealthy},
  };
  for (const auto& [effect, level, type] : table) {
    const auto found = faults({fault_of(3, "dcmi.80e01801", effect, 12)});
    ASSERT_EQ(found.size(), 1U) << level;
    EXPECT_EQ(found[0].npu, "Ascend910-3");
    EXPECT_EQ(found[0].type, type);
    EXPECT_EQ(found[0].level, level);
    EXPECT_EQ(found[0].handling, level);
    EXPECT_EQ(found[0].large_model_level, level);
    EXPECT_EQ(found[0].code, "80E01801");
    EXPECT_EQ(found[0].moments, (mc::FaultMoments{{"80E01801", {12, level}}}));
  }
}

TEST_F(ChipFaults, AFaultMayCarryItsLevel) {
  const auto level = [&](const std::string& text) {
    return faults({with_text(fault_of(0, "dcmi.1", Effect::unusable), text)})[0].level;
  };
  EXPECT_EQ(level("HBM multi-bit error, RestartNPU"), "RestartNPU");
  EXPECT_EQ(level("FreeRestartNPU"), "FreeRestartNPU");
  EXPECT_EQ(level("(PreSeparateNPU)"), "PreSeparateNPU");
  EXPECT_EQ(level("ManuallySeparateNPU"), "ManuallySeparateNPU");
  EXPECT_EQ(level("NoRestartNPUs"), "SeparateNPU");
  EXPECT_EQ(faults({fault_of(0, "cordoned", Effect::unusable)})[0].level, "ManuallySeparateNPU");
}

TEST_F(ChipFaults, OneEntryAChipAndTypeWithTheWorstLevel) {
  const auto found =
      faults({fault_of(1, "dcmi.b", Effect::note, 30), fault_of(1, "dcmi.a", Effect::unusable, 20),
              fault_of(1, "dcmi.a", Effect::note, 10), fault_of(1, "dcmi.c", Effect::network, 5),
              fault_of(0, "xid.79", Effect::unusable, 1)});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].npu, "Ascend910-0");
  EXPECT_EQ(found[0].code, "") << "from another source";
  EXPECT_TRUE(found[0].moments.empty());
  EXPECT_EQ(found[0].level, "SeparateNPU");
  EXPECT_EQ(found[1].type, mc::kCardNetworkUnhealthy);
  EXPECT_EQ(found[2].code, "A,B");
  EXPECT_EQ(found[2].level, "SeparateNPU");
  EXPECT_EQ(found[2].moments,
            (mc::FaultMoments{{"A", {10, "SeparateNPU"}}, {"B", {30, "NotHandleFault"}}}));
}

TEST_F(ChipFaults, ALinkConcernsBothItsChips) {
  Fault link = fault_of(2, "link.down", Effect::link);
  link.peer = domain::ChipIndex{5};
  const auto found = faults({link});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].npu, "Ascend910-2");
  EXPECT_EQ(found[1].npu, "Ascend910-5");
}

TEST_F(ChipFaults, HostileCodesAreNone) {
  for (const char* code : {"dcmi.", "dcmi.xyz", "dcmi.0x80", "dcmi.80,81", "dcmi.\"",
                           "dcmi.11111111111111111", "DCMI.80", ""}) {
    const auto found = faults({fault_of(0, code, Effect::unusable)});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].code, "") << code;
  }
  EXPECT_TRUE(faults({fault_of(99, "dcmi.1", Effect::unusable)}).empty());
}

TEST_F(ChipFaults, AreBounded) {
  std::vector<Fault> many;
  many.reserve(5000);
  for (int i = 0; i < 5000; ++i) {
    many.push_back(fault_of(i % 8, "dcmi." + std::to_string(i), Effect::unusable));
  }
  std::size_t codes = 0;
  for (const mc::ChipFault& fault : faults(many)) codes += fault.moments.size();
  EXPECT_EQ(codes, 8U * 64U);
}

TEST(SwitchFaults, MakeTheNodesState) {
  EXPECT_EQ(mc::switch_faults_of({}, 7).node_status, "Healthy");
  EXPECT_EQ(mc::switch_faults_of({}, 7).level, "");
  const std::vector<std::tuple<Effect, std::string, std::string>> table = {
      {Effect::note, "NotHandleFault", "Healthy"},
      {Effect::link, "SubHealthFault", "SubHealthy"},
      {Effect::unusable, "SeparateFault", "UnHealthy"}};
  for (const auto& [effect, level, status] : table) {
    Fault fault = of_machine("switch.[0x00f103b0,155904,na,na]", effect);
    fault.port = 4;
    const mc::SwitchInfo info = mc::switch_faults_of({fault}, 7);
    EXPECT_EQ(info.level, level);
    EXPECT_EQ(info.node_status, status);
    EXPECT_EQ(info.update_time, 7);
    ASSERT_EQ(info.events.size(), 1U);
    EXPECT_EQ(info.events[0].fault_code, "[0x00f103b0,155904,na,na]");
    EXPECT_EQ(info.moments,
              (mc::FaultMoments{{"[0x00f103b0,155904,na,na]_0_4", {1750000000000, level}}}));
  }
}

TEST(NodeFaults, AreThoseOfTheMachineItself) {
  Fault nic = of_machine("nic.down", Effect::link);
  nic.part = "eth0";
  EXPECT_FALSE(mc::node_faults_of({}).has_value());
  EXPECT_FALSE(mc::node_faults_of({nic, fault_of(1, "dcmi.1", Effect::unusable),
                                   of_machine("switch.x", Effect::unusable)})
                   .has_value());
  const auto info = mc::node_faults_of({of_machine("node.cpu.0000001d", Effect::network),
                                        of_machine("node.cpu.0000001d", Effect::network),
                                        of_machine("node.memory.0000001e", Effect::note),
                                        of_machine("fan stopped", Effect::note)});
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->status, "PreSeparate");
  EXPECT_EQ(info->faults,
            (std::vector<mc::NodeFault>{{"CPU", 0, {"0000001D"}, "PreSeparateFault"},
                                        {"Memory", 0, {"0000001E"}, "NotHandleFault"},
                                        {"Node", 0, {"fan stopped"}, "NotHandleFault"}}));
  EXPECT_EQ(mc::node_faults_of({of_machine("a", Effect::note)})->status, "Healthy");
  EXPECT_EQ(mc::node_faults_of({of_machine("a", Effect::unusable)})->status, "UnHealthy");
}

}  // namespace
}  // namespace chipweave::agent
