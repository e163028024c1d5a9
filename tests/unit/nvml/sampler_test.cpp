#include "node-agent/probes/nvidia/nvml/nvml_sampler.hpp"

#include <gmock/gmock.h>

#include "node-agent/probes/nvidia/nvidia_probe.hpp"
#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipMetrics;
using domain::ThrottleReason;
using domain::TrafficKind;
using testing::IsEmpty;
using testing::SizeIs;

struct NvmlSamplerTest : FakeDriver {
  std::vector<ChipMetrics> sample(const Json& scenario, const std::string& path = current()) {
    play(scenario);
    const auto library = NvmlLibrary::open(path);
    EXPECT_TRUE(library.ok()) << library.error().text();
    return NvmlSampler(*library).sample();
  }
};

TEST_F(NvmlSamplerTest, EveryValueInItsUnit) {
  Json machine = hgx_h100();
  measure(machine);
  machine["devices"][1]["corrected_errors"] = 5;
  machine["devices"][1]["uncorrected_errors"] = 6;
  machine["devices"][1]["clock_reasons"] = 0x1 | 0x8 | 0x80;
  const auto chips = sample(machine);
  ASSERT_THAT(chips, SizeIs(8));
  const ChipMetrics& chip = chips[1];
  EXPECT_EQ(chip.chip.value, 1);
  EXPECT_EQ(chip.temperature_celsius, 41);
  EXPECT_EQ(chip.memory_temperature_celsius, 61);
  EXPECT_EQ(chip.power_watts, 350.5);
  EXPECT_EQ(chip.memory_used_bytes, 1'000'001U);
  EXPECT_EQ(chip.memory_total_bytes, 85'899'345'920U);
  EXPECT_EQ(chip.utilization, 0.93);
  EXPECT_EQ(chip.clock_hertz, 1.98e9);
  EXPECT_EQ(chip.corrected_errors, 5U);
  EXPECT_EQ(chip.uncorrected_errors, 6U);
  const std::map<ThrottleReason, bool> reasons = {
      {ThrottleReason::sw_power_cap, false}, {ThrottleReason::sw_thermal, false},
      {ThrottleReason::sync_boost, false},   {ThrottleReason::hw_slowdown, true},
      {ThrottleReason::hw_thermal, false},   {ThrottleReason::hw_power_brake, true}};
  EXPECT_EQ(chip.throttled, reasons);
  ASSERT_THAT(chip.links, SizeIs(19));
  EXPECT_EQ(chip.links[17].kind, TrafficKind::nvlink);
  EXPECT_EQ(chip.links[17].port, 17);
  EXPECT_EQ(chip.links[17].sent_bytes, 1000U * 1024);
  EXPECT_EQ(chip.links[17].received_bytes, 2000U * 1024);
  EXPECT_EQ(chip.links[18].kind, TrafficKind::pcie);
  EXPECT_EQ(chip.links[18].sent_bytes, 5'000'000'000U);
  EXPECT_EQ(chip.links[18].received_bytes, 6'000'000'000U);
}

// NVLink 5 counts bytes; a driver that counts both is read by the older fields.
TEST_F(NvmlSamplerTest, LinksThatCountBytes) {
  Json machine = hgx_b200();
  for (Json& link : machine["devices"][0]["links"]) {
    link["sent_bytes"] = 12'345;
    link["received_bytes"] = 6'789;
  }
  Json& both = machine["devices"][0]["links"][3];
  both["sent_kib"] = 2;
  both["received_kib"] = 3;
  machine["devices"][0]["links"][4].erase("received_bytes");  // both directions or none
  const auto chips = sample(machine);
  ASSERT_THAT(chips[0].links, SizeIs(17));
  EXPECT_EQ(chips[0].links[0].sent_bytes, 12'345U);
  EXPECT_EQ(chips[0].links[0].received_bytes, 6'789U);
  EXPECT_EQ(chips[0].links[3].sent_bytes, 2048U);
  EXPECT_EQ(chips[0].links[3].received_bytes, 3072U);
  EXPECT_EQ(chips[0].links[4].port, 5);
  EXPECT_THAT(chips[1].links, IsEmpty());
}

TEST_F(NvmlSamplerTest, APcieCounterOf32BitsIsNotUsed) {
  Json machine = pcie_pair();
  measure(machine);
  machine["devices"][1]["pcie_32_bit"] = true;
  const auto chips = sample(machine);
  EXPECT_THAT(chips[0].links, SizeIs(1));
  EXPECT_THAT(chips[1].links, IsEmpty());
}

// The older temperature function and the older memory struct; no fields at all.
TEST_F(NvmlSamplerTest, AnOldDriver) {
  Json machine = dgx1v();
  measure(machine);
  const auto chips = sample(machine, old());
  ASSERT_THAT(chips, SizeIs(8));
  EXPECT_EQ(chips[2].temperature_celsius, 42);
  EXPECT_EQ(chips[2].memory_used_bytes, 1'000'002U);
  EXPECT_EQ(chips[2].power_watts, 350.5);
  EXPECT_EQ(chips[2].memory_temperature_celsius, std::nullopt);
  EXPECT_THAT(chips[2].links, IsEmpty());
}

TEST_F(NvmlSamplerTest, AFailedCallCostsItsValue) {
  Json machine = hgx_h100();
  measure(machine);
  machine["devices"][0]["errors"] = {{"nvmlDeviceGetPowerUsage", 999}};
  machine["devices"][1]["errors"] = {{"nvmlDeviceGetFieldValues", 15}};
  machine["devices"][2]["errors"] = {{"*", 15}};
  machine["devices"][3]["errors"] = {{"nvmlDeviceGetUtilizationRates", 3}};  // MIG
  const auto chips = sample(machine);
  ASSERT_THAT(chips, SizeIs(7));  // without the one that answers nothing
  EXPECT_EQ(chips[0].power_watts, std::nullopt);
  EXPECT_EQ(chips[0].temperature_celsius, 40);
  EXPECT_EQ(chips[1].power_watts, 350.5);
  EXPECT_THAT(chips[1].links, IsEmpty());
  EXPECT_EQ(chips[2].chip.value, 3);
  EXPECT_EQ(chips[2].utilization, std::nullopt);
  EXPECT_THAT(chips[2].links, SizeIs(19));
}

// A field that fails once is requested again; one that the device lacks is not.
TEST_F(NvmlSamplerTest, LaterMeasurements) {
  Json machine = hgx_h100();
  measure(machine);
  machine["devices"][0]["links"][5].erase("sent_kib");
  play(machine);
  const auto library = NvmlLibrary::open(current());
  ASSERT_TRUE(library.ok());
  NvmlSampler sampler(*library);
  ASSERT_THAT(sampler.sample().at(0).links, SizeIs(18));
  machine["devices"][0]["links"][5]["sent_kib"] = 7;
  machine["devices"][0]["links"][6].erase("sent_kib");
  play(machine);
  EXPECT_THAT(sampler.sample().at(0).links, SizeIs(17));
  machine["devices"][0]["links"][6]["sent_kib"] = 8;
  play(machine);
  EXPECT_THAT(sampler.sample().at(0).links, SizeIs(18));
}

TEST_F(NvmlSamplerTest, TheProbeMeasuresWhatItHasRead) {
  Json machine = hgx_h100();
  measure(machine);
  play(machine);
  NvidiaProbeOptions options;
  options.library = current();
  NvidiaProbe probe(options);
  EXPECT_THAT(probe.sample(), IsEmpty());
  ASSERT_TRUE(probe.discover().ok());
  EXPECT_THAT(probe.sample(), SizeIs(8));
  machine["devices"].erase(7);
  play(machine);
  ASSERT_TRUE(probe.discover().ok());
  EXPECT_THAT(probe.sample(), SizeIs(7));
}

// The functions that only measure are not among those that a warning says are missing.
TEST_F(NvmlSamplerTest, ADriverWithoutThemIsNotReported) {
  play(hgx_h100());
  for (const std::string& path : {current(), old()}) {
    const auto library = NvmlLibrary::open(path);
    ASSERT_TRUE(library.ok());
    for (const std::string& name : library->missing()) {
      EXPECT_EQ(name.find("Temperature"), std::string::npos) << name;
      EXPECT_EQ(name.find("MemoryInfo_v2"), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace chipweave::agent
