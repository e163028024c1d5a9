// A driver's library that hangs, crashes, returns garbage, disappears or was never installed
// neither ends the agent nor empties its node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "tests/component/agent_hardware/rig.hpp"
#include "tests/unit/nvml/scenarios.hpp"

namespace chipweave {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

struct DriverDrills : testing::Test {
  Rig rig;
  Json machine = agent::dgx1v();
  std::unique_ptr<Program> program;

  void start(const std::vector<std::string>& more = {}) {
    rig.play(machine);
    auto words = Rig::metrics(rig.folder());
    words.insert(words.end(), more.begin(), more.end());
    program = rig.agent("n1", words);
  }
  void begin(const std::vector<std::string>& more = {}) {
    start(more);
    ASSERT_TRUE(eventually([&] { return !rig.node("n1").is_null(); })) << program->log();
  }
  double ends(const std::string& reason) const {
    return rig.metric("chipweave_agent_probe_ends_total{reason=\"" + reason + "\"}");
  }
  // The node is unchanged, and the agent keeps running.
  void expect_truth_kept() {
    EXPECT_EQ(rig.node("n1")["chips"], 8);
    EXPECT_EQ(rig.unhealthy("n1"), std::vector<int>{});
    EXPECT_EQ(rig.decide("n1", 2), (std::vector<int>{0, 3}));
    EXPECT_EQ(rig.node("n1")["stale"], false);
  }
  // Later changes are detected again.
  void expect_recovered() {
    machine.erase("hang");
    machine.erase("crash");
    machine.erase("errors");
    machine.erase("count");
    rig.play(machine);
    ASSERT_TRUE(eventually(
        [&] { return rig.node("n1")["faults"] == Json::array() && rig.unhealthy("n1").empty(); },
        std::chrono::seconds(90)));
    machine["events"] = {{{"device", 6}, {"type", 8}, {"data", 79}}};
    rig.play(machine);
    EXPECT_TRUE(eventually([&] { return rig.unhealthy("n1") == std::vector<int>{6}; }))
        << program->log();
  }
};

TEST_F(DriverDrills, AHangIsNoticedAndEndedAndTheTruthKept) {
  begin();
  machine["hang"] = {{"nvmlDeviceGetNvLinkState", 3600}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return ends("stuck") >= 1; })) << program->log();
  expect_truth_kept();
  // The time since the probe process last reported.
  EXPECT_GE(rig.metric("chipweave_agent_probe_age_seconds"), 4);
  EXPECT_THAT(program->log(), HasSubstr("probe.stuck"));
  expect_recovered();
}

// The reading that the event asks for never ends.
TEST_F(DriverDrills, AnXidIsReportedThoughTheDriverHangsAfterIt) {
  begin();
  machine["hang"] = {{"nvmlDeviceGetUUID", 3600}};
  machine["events"] = {{{"device", 5}, {"type", 8}, {"data", 79}}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return rig.unhealthy("n1") == std::vector<int>{5}; }))
      << program->log();
  EXPECT_EQ(ends("stuck"), 0);
  ASSERT_TRUE(eventually([&] { return ends("stuck") >= 1; })) << program->log();
  EXPECT_EQ(rig.unhealthy("n1"), std::vector<int>{5});
}

TEST_F(DriverDrills, ACrashIsNoticedAndTheTruthKept) {
  begin();
  machine["crash"] = "nvmlDeviceGetNvLinkState";
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return ends("crashed") >= 2; })) << program->log();
  expect_truth_kept();
  EXPECT_THAT(program->log(), HasSubstr("signal 6"));
  expect_recovered();
}

TEST_F(DriverDrills, AKilledProbeProcessIsRestarted) {
  begin();
  for (int i = 0; i < 5; ++i) {
    std::vector<int> helpers;
    ASSERT_TRUE(eventually([&] {
      helpers = program->children("chipweave-agent-probe");
      return helpers.size() == 1;
    }));
    ::kill(helpers[0], SIGKILL);
    ASSERT_TRUE(eventually([&] { return ends("crashed") >= i + 1; }));
  }
  expect_truth_kept();
}

TEST_F(DriverDrills, GarbageChangesNothing) {
  begin();
  Json expected = rig.timeless_node("n1");
  machine["count"] = 4'000'000'000U;
  machine["devices"][0]["uuid"] = std::string(5000, '\x01');
  machine["devices"][1]["bus"] = "nonsense";
  machine["devices"][2]["links"][0]["remote"] = "zz";
  machine["devices"][3]["numa_mask"] = 0xffffffff;
  machine["events"] = {{{"device", 6}, {"type", 8}, {"data", 79}}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return rig.unhealthy("n1") == std::vector<int>{6}; }))
      << program->log();
  for (const char* garbage :
       {"the driver counts 4000000000 devices", "GPU 0: nvmlDeviceGetUUID: no UUID",
        "GPU 1: nvmlDeviceGetPciInfo_v3: no bus id", "GPU 0 has 1 NVLinks up to GPU 2, which has 0",
        "not one NUMA node"}) {
    EXPECT_TRUE(eventually([&] { return program->log().find(garbage) != std::string::npos; }))
        << garbage;
  }
  expected["unhealthy"] = {6};
  expected["free"] = {0, 1, 2, 3, 4, 5, 7};
  // One end of a lane no longer confirms it.
  expected["down_links"] = Json::parse("[[0,2,1]]");
  expected["faults"] = Json::parse(R"([
    {"code": "xid.79", "effect": "unusable", "where": "chip 6", "chip": 6,
     "text": "has fallen off the bus", "until_reset": true},
    {"code": "link.down", "effect": "link", "where": "link 0-2", "chip": 0, "peer": 2, "lanes": 1,
     "text": "NVLINK to chip 2: 1 of 1 lanes down"}])");
  EXPECT_TRUE(eventually([&] { return rig.timeless_node("n1") == expected; }))
      << rig.timeless_node("n1") << program->log();
  EXPECT_EQ(rig.decide("n1", 8), std::nullopt);
  EXPECT_TRUE(rig.decide("n1", 7));
  EXPECT_EQ(program->children("chipweave-agent-probe").size(), 1U) << program->log();
}

TEST_F(DriverDrills, ALibraryThatFailsAsAWholeKeepsTheTruth) {
  begin();
  machine["errors"] = {{"*", 9}, {"nvmlInitWithFlags", 9}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return rig.metric("chipweave_agent_probe_errors_total") >= 1; }))
      << program->log();
  expect_truth_kept();
}

TEST_F(DriverDrills, AMachineWithoutAnyChipIsAnOrdinaryStateUntilOneComes) {
  machine["count"] = 0;
  machine["devices"] = Json::array();
  start();
  ASSERT_TRUE(eventually([&] {
    return program->log().find("NVML lists no GPU") != std::string::npos;
  })) << program->log();
  EXPECT_TRUE(rig.node("n1").is_null());
  machine = agent::dgx1v();
  rig.play(machine);
  EXPECT_TRUE(eventually([&] { return !rig.node("n1").is_null(); }, std::chrono::seconds(60)))
      << program->log();
}

TEST_F(DriverDrills, WithoutADriverTheAgentWaitsForOne) {
  rig.play(machine);
  auto words = rig.agent_words("n1", Rig::metrics(rig.folder()));
  const std::string library = rig.folder().at("libnvidia-ml.so.1");
  for (std::string& word : words) {
    if (word == CHIPWEAVE_FAKE_NVML_CURRENT) word = library;
  }
  program = std::make_unique<Program>(
      words,
      std::map<std::string, std::string>{{"CHIPWEAVE_FAKE_NVML", rig.folder().at("scenario.json")}},
      rig.folder().at("agent.log"));
  ASSERT_TRUE(eventually([&] {
    return program->log().find("no NVIDIA driver") != std::string::npos;
  })) << program->log();
  std::filesystem::create_symlink(CHIPWEAVE_FAKE_NVML_CURRENT, library);
  EXPECT_TRUE(eventually([&] { return !rig.node("n1").is_null(); }, std::chrono::seconds(60)))
      << program->log();
}

TEST_F(DriverDrills, ASecondAgentOfOneMachineDoesNotStart) {
  begin();
  const auto second = rig.agent("n2");
  EXPECT_EQ(second->wait(), 1);
  EXPECT_THAT(second->log(), HasSubstr("another chipweave-agent watches the hardware"));
  // Once the first one has ended in any way, another one may start.
  program->signal(SIGKILL);
  program->wait();
  const auto third = rig.agent("n2");
  EXPECT_TRUE(eventually([&] { return !rig.node("n2").is_null(); })) << third->log();
}

TEST_F(DriverDrills, TheProbeProcessEndsWithItsAgent) {
  begin();
  const auto helpers = program->children("chipweave-agent-probe");
  ASSERT_EQ(helpers.size(), 1U);
  program->signal(SIGKILL);
  program->wait();
  EXPECT_TRUE(eventually([&] { return kilobytes_of(helpers[0], "VmRSS") == 0; }));
}

TEST_F(DriverDrills, TheAgentEndsInTimeWhateverItsProbeProcessDoes) {
  begin();
  machine["hang"] = {{"nvmlDeviceGetNvLinkState", 3600}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return !program->children("chipweave-agent-probe").empty(); }));
  EXPECT_EQ(program->terminate(), 0);
}

}  // namespace
}  // namespace chipweave
