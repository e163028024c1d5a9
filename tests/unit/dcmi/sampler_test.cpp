#include "node-agent/probes/ascend/dcmi/dcmi_sampler.hpp"

#include <gmock/gmock.h>

#include "tests/unit/dcmi/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipMetrics;
using testing::IsEmpty;
using testing::SizeIs;

struct DcmiSamplerTest : FakeDcmi {
  static void add_measurements(Json& machine, int places) {
    for (int i = 0; i < places; ++i) {
      Json& device = device_at(machine, i);
      device["celsius"] = 45 + i;
      device["power"] = 3105;
      device["load"] = 87;
      device["mhz"] = 1800;
      device["hbm"] = {65'536, 1600, 3'000, 52, 7};
      device["ecc"] = {1, 4, 2};
    }
  }
  // What the probe measures after it has read that machine.
  std::vector<ChipMetrics> sample(const Json& scenario, const std::string& library = current()) {
    play(scenario);
    AscendProbe probe(options(library));
    EXPECT_THAT(probe.sample(), IsEmpty());
    EXPECT_TRUE(probe.discover().ok());
    return probe.sample();
  }
  static void expect_all(const ChipMetrics& chip) {
    EXPECT_EQ(chip.power_watts, 310.5);
    EXPECT_EQ(chip.utilization, 0.87);
    EXPECT_EQ(chip.clock_hertz, 1.8e9);
    EXPECT_EQ(chip.memory_total_bytes, std::uint64_t{64} << 30U);
    EXPECT_EQ(chip.memory_used_bytes, std::uint64_t{3'000} << 20U);
    EXPECT_EQ(chip.memory_temperature_celsius, 52);
    EXPECT_EQ(chip.corrected_errors, 4U);
    EXPECT_EQ(chip.uncorrected_errors, 2U);
    EXPECT_THAT(chip.throttled, IsEmpty());
    EXPECT_THAT(chip.links, IsEmpty());
  }
};

TEST_F(DcmiSamplerTest, EveryValueInItsUnit) {
  Json machine = atlas_a2(8);
  add_measurements(machine, 8);
  const auto chips = sample(machine);
  ASSERT_THAT(chips, SizeIs(8));
  EXPECT_EQ(chips[3].chip.value, 3);
  EXPECT_EQ(chips[3].temperature_celsius, 48);
  expect_all(chips[3]);
}

TEST_F(DcmiSamplerTest, TheFlatFamily) {
  Json machine = atlas_a5(8);
  add_measurements(machine, 8);
  const auto chips = sample(machine, flat());
  ASSERT_THAT(chips, SizeIs(8));
  EXPECT_EQ(chips[7].temperature_celsius, 52);
  expect_all(chips[7]);
}

TEST_F(DcmiSamplerTest, ChipsHaveTheNumbersOfTheLastReading) {
  Json machine = atlas_a2(8);
  add_measurements(machine, 8);
  device_at(machine, 0)["physical"] = 11;
  const auto chips = sample(machine);
  ASSERT_THAT(chips, SizeIs(8));
  EXPECT_EQ(chips[0].chip.value, 11);
  EXPECT_EQ(chips[0].temperature_celsius, 45);
}

TEST_F(DcmiSamplerTest, AChipWithoutHbmHasTheErrorsOfItsDdr) {
  Json machine = atlas_a2(8);
  add_measurements(machine, 8);
  device_at(machine, 2).erase("hbm");
  const auto chips = sample(machine);
  EXPECT_EQ(chips[2].memory_total_bytes, std::nullopt);
  EXPECT_EQ(chips[2].corrected_errors, 4U);
}

TEST_F(DcmiSamplerTest, ErrorsAreNotCountedWithoutEcc) {
  Json machine = atlas_a2(8);
  add_measurements(machine, 8);
  device_at(machine, 2)["ecc"] = {0, 0, 0};
  EXPECT_EQ(sample(machine)[2].corrected_errors, std::nullopt);
}

TEST_F(DcmiSamplerTest, AFailedCallCostsItsValue) {
  Json machine = atlas_a2(8);
  add_measurements(machine, 8);
  device_at(machine, 1)["errors"] = {{"dcmi_get_device_power_info", -8255}};
  device_at(machine, 2)["errors"] = {{"dcmi_get_device_power_info", -8006}};  // a timeout
  device_at(machine, 3)["errors"] = {{"dcmi_get_device_temperature", -8006}};
  const auto chips = sample(machine);
  ASSERT_THAT(chips, SizeIs(7));
  EXPECT_EQ(chips[1].power_watts, std::nullopt);
  EXPECT_EQ(chips[1].clock_hertz, 1.8e9);
  EXPECT_EQ(chips[2].temperature_celsius, 47);
  EXPECT_EQ(chips[2].clock_hertz, std::nullopt);
  EXPECT_EQ(chips[3].chip.value, 4);
}

// An old driver has none of the functions, which no warning mentions.
// Of the links that have carried anything; the driver has rates of all sixteen.
TEST_F(DcmiSamplerTest, RatesOfTheHccsLinksInUse) {
  Json machine = atlas_a2(8);
  add_measurements(machine, 8);
  for (const int place : {2, 3}) {
    device_at(machine, place)["sent"] = {0, 5, 0, 7};
    device_at(machine, place)["gbps"] = {12.5, 20};
  }
  device_at(machine, 3)["errors"] = {{"dcmi_get_hccs_link_bandwidth_info", -8013}};
  device_at(machine, 4)["gbps"] = {1, 1};
  const auto chips = sample(machine);
  ASSERT_THAT(chips[2].rates, SizeIs(2));
  EXPECT_EQ(chips[2].rates[1].kind, domain::TrafficKind::hccs);
  EXPECT_EQ(chips[2].rates[1].port, 3);
  EXPECT_EQ(chips[2].rates[1].sent, 12.5e9);
  EXPECT_EQ(chips[2].rates[1].received, 20e9);
  EXPECT_THAT(chips[3].rates, IsEmpty());
  EXPECT_EQ(chips[3].power_watts, 310.5);
  EXPECT_THAT(chips[4].rates, IsEmpty());
}

TEST_F(DcmiSamplerTest, ADriverThatMeasuresNothing) {
  Json machine = atlas_910a();
  add_measurements(machine, 8);
  EXPECT_THAT(sample(machine, old()), IsEmpty());
  const auto seen = observe(machine, old());
  for (const std::string& warning : seen.warnings) {
    EXPECT_EQ(warning.find("temperature"), std::string::npos) << warning;
  }
}

}  // namespace
}  // namespace chipweave::agent
