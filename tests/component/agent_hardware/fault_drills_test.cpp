// A hardware fault affects the next decision, and recovery follows the health policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/agent_hardware/rig.hpp"
#include "tests/unit/nvml/scenarios.hpp"

namespace chipweave {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

struct FaultDrills : testing::Test {
  Rig rig;
  Json machine = agent::dgx1v();
  std::unique_ptr<Program> program;

  void begin(std::vector<std::string> more = {}) {
    rig.play(machine);
    const auto metrics = Rig::metrics(rig.folder());
    more.insert(more.end(), metrics.begin(), metrics.end());
    program = rig.agent("n1", std::move(more));
    ASSERT_TRUE(eventually([&] { return !rig.node("n1").is_null(); })) << program->log();
  }
  // All lanes between two chips of the cube mesh, as both report them.
  void set_link(int a, int b, bool up) {
    const auto set = [&](int of, int to) {
      for (Json& link : machine["devices"][static_cast<std::size_t>(of)]["links"]) {
        if (link["remote"] == agent::bus_of(to)) link["state"] = up ? 1 : 0;
      }
    };
    set(a, b);
    set(b, a);
    rig.play(machine);
  }
};

TEST_F(FaultDrills, ALinkThatGoesDownIsInTheNextDecision) {
  begin({"--health-policy", rig.policy_without_holds()});
  EXPECT_EQ(rig.decide("n1", 2), (std::vector<int>{0, 3}));
  set_link(0, 3, false);
  ASSERT_TRUE(eventually([&] { return rig.decide("n1", 2) != std::vector<int>({0, 3}); }));
  EXPECT_EQ(rig.node("n1")["down_links"], Json::parse("[[0,3,2]]"));
  EXPECT_EQ(rig.decide("n1", 2), (std::vector<int>{2, 3}));
  set_link(0, 3, true);
  EXPECT_TRUE(eventually([&] { return rig.decide("n1", 2) == std::vector<int>({0, 3}); }));
}

TEST_F(FaultDrills, ALinkThatComesUpIsNotTrustedAtOnce) {
  begin();
  set_link(0, 3, false);
  ASSERT_TRUE(eventually([&] { return rig.decide("n1", 2) != std::vector<int>({0, 3}); }));
  set_link(0, 3, true);
  ASSERT_TRUE(eventually([&] {
    return rig.metric("chipweave_agent_faults{code=\"link.down\",effect=\"link\"}") == 1;
  }));
  EXPECT_EQ(rig.decide("n1", 2), (std::vector<int>{2, 3}));
}

TEST_F(FaultDrills, AnXidOfTheHardwareTakesTheChipAndOneOfAProgramDoesNot) {
  begin();
  machine["events"] = {{{"device", 2}, {"type", 8}, {"data", 13}},
                       {{"device", 5}, {"type", 8}, {"data", 79}}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return rig.unhealthy("n1") == std::vector<int>{5}; }));
  EXPECT_EQ(rig.decide("n1", 8), std::nullopt);
  EXPECT_TRUE(eventually([&] {
    return rig.metric("chipweave_agent_faults{code=\"xid.79\",effect=\"unusable\"}") == 1 &&
           rig.metric("chipweave_agent_faults{code=\"xid.13\",effect=\"note\"}") == 1;
  }));
  EXPECT_THAT(program->log(), HasSubstr("code=xid.79"));
}

TEST_F(FaultDrills, AGpuInMigModeIsNotOfferedAndTheSchedulerSaysWhy) {
  machine["devices"][2]["mig"] = {1, 1};
  machine["devices"][2]["mig_devices"] = {
      {{"uuid", "MIG-a"}, {"slices", 1}, {"memory_mib", 9984}},
      {{"uuid", "MIG-b"}, {"slices", 3}, {"memory_mib", 40448}}};
  begin();
  const std::string text =
      "is in MIG mode: 2 instances, 1g.10gb, 3g.40gb; whole-GPU pods are not placed on it";
  EXPECT_EQ(rig.unhealthy("n1"), std::vector<int>{2});
  const Json faults = rig.node("n1")["faults"];
  ASSERT_EQ(faults.size(), 1U) << faults;
  EXPECT_EQ(faults[0]["code"], "nvml.mig");
  EXPECT_EQ(faults[0]["effect"], "unusable");
  EXPECT_EQ(faults[0]["chip"], 2);
  EXPECT_EQ(faults[0]["text"], text);
  EXPECT_EQ(rig.decide("n1", 8), std::nullopt);
  EXPECT_THAT(rig.explain(8).dump(), HasSubstr("(nvml.mig: " + text + ")"));
  // MIG is off again: the GPU is whole at once.
  machine["devices"][2].erase("mig_devices");
  machine["devices"][2]["mig"] = {0, 0};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return rig.unhealthy("n1").empty(); })) << program->log();
  EXPECT_TRUE(eventually([&] { return rig.decide("n1", 8).has_value(); })) << program->log();
}

TEST_F(FaultDrills, OneQueryThatFailsIsAWarningAndNoChipLess) {
  for (const char* call : {"nvmlDeviceGetModuleId", "nvmlDeviceGetMemoryAffinity",
                           "nvmlDeviceGetNvLinkRemoteDeviceType"}) {
    machine["devices"][2]["errors"][call] = 999;
  }
  begin();
  EXPECT_EQ(rig.unhealthy("n1"), std::vector<int>{});
  EXPECT_EQ(rig.node("n1")["faults"], Json::array());
  EXPECT_TRUE(rig.decide("n1", 8).has_value());
  EXPECT_THAT(program->log(), HasSubstr("GPU 2: nvmlDeviceGetModuleId: Unknown Error (999)"));
}

TEST_F(FaultDrills, AChipThatFallsOffTheBusKeepsItsNumberAndTheOthersToo) {
  begin({"--health-policy", rig.policy_without_holds()});
  machine["devices"][3]["errors"] = {{"*", 15}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return rig.unhealthy("n1") == std::vector<int>{3}; }));
  const auto helpers = program->children("chipweave-agent-probe");
  ASSERT_EQ(helpers.size(), 1U);
  // The driver is reloaded and counts seven chips.
  machine["devices"].erase(3);
  machine["boot"] = 2;
  rig.play(machine);
  ::kill(helpers[0], SIGKILL);
  ASSERT_TRUE(eventually([&] {
    const auto now = program->children("chipweave-agent-probe");
    return now.size() == 1 && now != helpers;
  }));
  ASSERT_TRUE(eventually([&] {
    return rig.metric("chipweave_agent_faults{code=\"chip.gone\",effect=\"note\"}") == 1;
  })) << program->log();
  EXPECT_EQ(rig.node("n1")["chips"], 8);
}

TEST_F(FaultDrills, ErrorsOfALinkTakeItsLane) {
  machine = agent::hgx_h100();
  Json& crc = machine["devices"][0]["links"][4]["field_crc"];
  crc = 7;
  begin({"--health-policy", rig.policy_without_holds()});
  crc = 100'000;
  rig.play(machine);
  EXPECT_TRUE(eventually([&] {
    return rig.metric("chipweave_agent_faults{code=\"nvlink.crc\",effect=\"link\"}") == 1;
  })) << program->log();
  EXPECT_EQ(rig.metric("chipweave_agent_link_lanes{kind=\"nvswitch\",state=\"down\"}"), 1);
}

TEST_F(FaultDrills, TheHealthFileAddsItsFaults) {
  const std::string file = rig.folder().put("health.json", "{}");
  begin({"--health-file", file});
  rig.folder().put("health.json", R"({"unhealthy":[1],"down_links":[[0,3]]})");
  EXPECT_TRUE(eventually([&] { return rig.unhealthy("n1") == std::vector<int>{1}; }));
  EXPECT_EQ(rig.decide("n1", 2), (std::vector<int>{2, 3}));
}

TEST_F(FaultDrills, SixtyFourChipsAreAMachine) {
  machine["devices"] = Json::array();
  machine["levels"] = Json::array();
  for (int i = 0; i < 64; ++i) {
    Json gpu = agent::device(0, "NVIDIA L40S", 0);
    gpu["uuid"] = "GPU-" + std::to_string(i);
    gpu["bus"] = "00000000:" + std::to_string(10 + i) + ":00.0";
    machine["devices"].push_back(std::move(gpu));
  }
  begin();
  EXPECT_EQ(rig.node("n1")["chips"], 64);
  machine["events"] = {{{"device", 63}, {"type", 8}, {"data", 48}}};
  rig.play(machine);
  EXPECT_TRUE(eventually([&] { return rig.unhealthy("n1") == std::vector<int>{63}; }));
}

}  // namespace
}  // namespace chipweave
