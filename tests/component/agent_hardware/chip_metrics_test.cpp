// What chips measure arrives in /metrics of the agent, by way of the probe process; a driver that
// measures nothing costs nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/component/agent_hardware/rig.hpp"
#include "tests/unit/nvml/scenarios.hpp"

namespace chipweave {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct ChipMetrics : testing::Test {
  Rig rig;
  Json machine = agent::hgx_h100();
  std::unique_ptr<Program> program;

  void begin(std::vector<std::string> more = {"--metrics-interval", "1"}) {
    rig.play(machine);
    const auto words = Rig::metrics(rig.folder());
    more.insert(more.end(), words.begin(), words.end());
    program = rig.agent("n1", more);
    ASSERT_TRUE(eventually([&] { return !rig.node("n1").is_null(); })) << program->log();
  }
  // The value of a chip's metric; -1 if there is none.
  double chip(const std::string& name, int index, const std::string& more = "") const {
    const std::string number = std::to_string(index);
    const std::string bus = agent::bus_of(index).substr(4);
    return rig.metric("chipweave_chip_" + name + "{chip=\"" + number + "\",uuid=\"GPU-" + number +
                      "\",pci=\"" + bus + "\",model=\"NVIDIA H100 80GB HBM3\",node=\"n1\"" + more +
                      "}");
  }
  void expect_clean() const {
    if (std::system("promtool --version >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "promtool is not installed";
    const std::string page = rig.folder().put("page", rig.metrics_page());
    EXPECT_EQ(std::system(("promtool check metrics < " + page).c_str()), 0) << rig.metrics_page();
  }
};

TEST_F(ChipMetrics, AreThoseThatTheDriverMeasures) {
  agent::measure(machine);
  machine["devices"][2]["clock_reasons"] = 0x44;  // power cap, heat
  machine["devices"][2]["corrected_errors"] = 7;
  begin();
  ASSERT_TRUE(eventually([&] { return chip("temperature_celsius", 7) == 47; })) << program->log();
  EXPECT_EQ(chip("memory_temperature_celsius", 2), 62);
  EXPECT_EQ(chip("power_watts", 2), 350.5);
  EXPECT_EQ(chip("memory_used_bytes", 2), 1'000'002);
  EXPECT_EQ(chip("memory_total_bytes", 2), 85'899'345'920);
  EXPECT_EQ(chip("utilization_ratio", 2), 0.93);
  EXPECT_EQ(chip("clock_hertz", 2), 1.98e9);
  EXPECT_EQ(chip("throttled", 2, ",reason=\"sw_power_cap\""), 1);
  EXPECT_EQ(chip("throttled", 2, ",reason=\"hw_thermal\""), 1);
  EXPECT_EQ(chip("throttled", 2, ",reason=\"sync_boost\""), 0);
  EXPECT_EQ(chip("ecc_errors_total", 2, ",kind=\"corrected\""), 7);
  EXPECT_EQ(chip("ecc_errors_total", 2, ",kind=\"uncorrected\""), 0);
  EXPECT_EQ(chip("link_sent_bytes_total", 2, ",link=\"nvlink\",port=\"17\""), 1'024'000);
  EXPECT_EQ(chip("link_received_bytes_total", 2, ",link=\"nvlink\",port=\"0\""), 2'048'000);
  EXPECT_EQ(chip("link_sent_bytes_total", 2, ",link=\"pcie\",port=\"0\""), 5'000'000'000);
  EXPECT_EQ(chip("health", 2), 1);
  EXPECT_EQ(chip("xid_errors_total", 2, ",xid=\"79\""), -1);

  machine["devices"][2]["temperature"] = 91;
  machine["devices"][2]["links"][17]["sent_kib"] = 3'000'000;
  machine["events"] = {{{"device", 2}, {"type", 8}, {"data", 79}}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return chip("temperature_celsius", 2) == 91; })) << program->log();
  EXPECT_EQ(chip("link_sent_bytes_total", 2, ",link=\"nvlink\",port=\"17\""), 3'072'000'000);
  EXPECT_GT(chip("link_peak_bytes_per_second", 2), 1e8);
  EXPECT_EQ(chip("link_peak_bytes_per_second", 3), 0);
  EXPECT_TRUE(eventually([&] { return chip("xid_errors_total", 2, ",xid=\"79\"") == 1; }));
  EXPECT_TRUE(eventually([&] { return chip("health", 2) == 0; }));
  expect_clean();
}

// Chips keep their numbers though the driver counts those that are left.
TEST_F(ChipMetrics, FollowTheChipNotItsNumberInTheDriver) {
  agent::measure(machine);
  begin();
  ASSERT_TRUE(eventually([&] { return chip("temperature_celsius", 7) == 47; })) << program->log();
  machine["devices"].erase(3);
  machine["boot"] = 2;  // the driver was reloaded
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return rig.unhealthy("n1") == std::vector<int>{3}; }));
  ASSERT_TRUE(eventually([&] { return chip("temperature_celsius", 3) == -1; }));
  EXPECT_TRUE(eventually([&] { return chip("temperature_celsius", 7) == 47; }));
  EXPECT_EQ(chip("health", 3), 0);
  expect_clean();
}

TEST_F(ChipMetrics, ADriverThatMeasuresNothingIsOtherwiseAsGoodAsAnother) {
  begin();
  ASSERT_TRUE(eventually([&] { return chip("health", 7) == 1; }));
  const Json before = rig.timeless_node("n1");
  machine["devices"][0]["errors"] = {{"nvmlDeviceGetTemperatureV", 999},
                                     {"nvmlDeviceGetPowerUsage", 999},
                                     {"nvmlDeviceGetUtilizationRates", 10},
                                     {"nvmlDeviceGetMemoryInfo_v2", 999},
                                     {"nvmlDeviceGetClockInfo", 999}};
  agent::measure(machine);
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return chip("temperature_celsius", 1) == 41; })) << program->log();
  for (const char* name :
       {"temperature_celsius", "power_watts", "utilization_ratio", "clock_hertz"})
    EXPECT_EQ(chip(name, 0), -1) << name;
  EXPECT_EQ(chip("memory_used_bytes", 0), 1'000'000);  // by the older function
  EXPECT_EQ(rig.timeless_node("n1"), before);
  EXPECT_THAT(program->log(), Not(HasSubstr("nvmlDeviceGetPowerUsage")));
  EXPECT_THAT(program->log(), Not(HasSubstr("nvmlDeviceGetTemperature")));
  expect_clean();
}

// One call hangs from then on: chips are no longer measured, and that is all.
TEST_F(ChipMetrics, AMeasurementThatAlwaysHangsCostsTheMeasurementsOnly) {
  agent::measure(machine);
  begin();
  ASSERT_TRUE(eventually([&] { return chip("temperature_celsius", 7) == 47; }));
  EXPECT_EQ(rig.metric("chipweave_agent_measuring"), 1);
  machine["hang"] = {{"nvmlDeviceGetPowerUsage", 3600}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return rig.metric("chipweave_agent_measuring") == 0; }))
      << program->log();
  EXPECT_EQ(rig.node("n1")["chips"], 8);
  EXPECT_EQ(rig.unhealthy("n1"), std::vector<int>{});
  ASSERT_TRUE(eventually([&] { return rig.node("n1")["faults"] == Json::array(); }))
      << program->log();
  EXPECT_TRUE(eventually([&] { return chip("temperature_celsius", 7) == -1; }));  // too old
  EXPECT_EQ(chip("health", 7), 1);
  EXPECT_EQ(rig.decide("n1", 8), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));

  // The next process reports what happens, long after the first measurement would have been.
  for (const int gpu : {2, 5}) {
    machine["events"] = {{{"device", gpu}, {"type", 8}, {"data", 79}}};
    rig.play(machine);
    ASSERT_TRUE(eventually([&] { return chip("health", gpu) == 0; })) << program->log();
  }
  // The agent's metrics show it before its report has reached the scheduler.
  EXPECT_TRUE(eventually([&] {
    return rig.unhealthy("n1") == std::vector<int>{2, 5};
  })) << program->log();
  EXPECT_EQ(rig.metric("chipweave_agent_probe_ends_total{reason=\"stuck\"}"), 1);
  EXPECT_EQ(rig.metric("chipweave_agent_probe_starts_total"), 2);
  EXPECT_EQ(rig.metric("chipweave_agent_probe_working"), 1);
  EXPECT_THAT(program->log(), HasSubstr("the chips are not measured for 60 min"));
  EXPECT_THAT(program->log(), Not(HasSubstr("code=probe.stuck effect=unusable")));
  expect_clean();
}

TEST_F(ChipMetrics, NoneWithoutAnInterval) {
  agent::measure(machine);
  begin({"--metrics-interval", "0"});
  // A later line of the probe process: it has read the chips twice.
  machine["events"] = {{{"device", 2}, {"type", 8}, {"data", 79}}};
  rig.play(machine);
  ASSERT_TRUE(eventually([&] { return chip("health", 2) == 0; }));
  EXPECT_THAT(rig.metrics_page(), Not(HasSubstr("chipweave_chip_temperature_celsius")));
  EXPECT_EQ(rig.metric("chipweave_agent_measuring"), 0);
}

}  // namespace
}  // namespace chipweave
