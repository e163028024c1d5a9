// Tested on constructed trees: no AMD machine was available.
#include "node-agent/probes/amd/metrics/amd_sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node-agent/probes/amd/amd_probe.hpp"
#include "node-agent/probes/amd/metrics/gpu_metrics.hpp"
#include "tests/fakes/agent/amd_folder.hpp"

namespace chipweave::agent {
namespace {

using domain::ThrottleReason;
using domain::TrafficKind;
using testing::IsEmpty;
using testing::SizeIs;

// A gpu_metrics file of that version.
class Table {
 public:
  Table(std::size_t size, unsigned content) : bytes_(size, '\0') {
    put(0, size, 2);
    put(2, 1, 1);
    put(3, content, 1);
  }
  Table& put(std::size_t at, std::uint64_t value, std::size_t size = 8) {
    for (std::size_t i = 0; i < size; ++i) bytes_[at + i] = static_cast<char>(value >> (8 * i));
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

Table mi300(unsigned content, std::size_t read, std::size_t written) {
  Table out(2208, content);
  for (std::size_t link = 0; link < 8; ++link) {
    out.put(read + 8 * link, 100 + link).put(written + 8 * link, 200 + link);
  }
  return out;
}

TEST(GpuMetrics, XgmiTrafficOfEachKnownVersion) {
  for (const auto& [content, read, written] :
       {std::tuple(4U, 104, 168), {6U, 128, 192}, {7U, 136, 200}, {8U, 136, 200}}) {
    const auto table = parse_gpu_metrics(
        mi300(content, static_cast<std::size_t>(read), static_cast<std::size_t>(written)).bytes());
    ASSERT_THAT(table.links, SizeIs(8)) << content;
    EXPECT_EQ(table.links[7].kind, TrafficKind::xgmi);
    EXPECT_EQ(table.links[7].port, 7);
    EXPECT_EQ(table.links[7].sent_bytes, 207U * 1024);
    EXPECT_EQ(table.links[7].received_bytes, 107U * 1024);
    EXPECT_THAT(table.throttled, IsEmpty());
  }
}

TEST(GpuMetrics, LinksWithoutAValueAreLeftOut) {
  Table table = mi300(7, 136, 200);
  table.put(136 + 8 * 2, ~std::uint64_t{0});
  table.put(200 + 8 * 5, ~std::uint64_t{0} - 1);  // more than 64 bits of bytes
  const auto read = parse_gpu_metrics(table.bytes());
  ASSERT_THAT(read.links, SizeIs(6));
  EXPECT_EQ(read.links[2].port, 3);
}

TEST(GpuMetrics, WhatLimitsTheClocks) {
  const auto throttled = [](std::uint64_t status) {
    return parse_gpu_metrics(Table(120, 3).put(112, status).bytes()).throttled;
  };
  using Reasons = std::map<ThrottleReason, bool>;
  EXPECT_EQ(throttled(0), (Reasons{{ThrottleReason::power, false},
                                   {ThrottleReason::thermal, false},
                                   {ThrottleReason::current, false}}));
  EXPECT_TRUE(throttled(1).at(ThrottleReason::power));
  EXPECT_TRUE(throttled(std::uint64_t{1} << 22U).at(ThrottleReason::current));
  EXPECT_TRUE(throttled(std::uint64_t{1} << 36U).at(ThrottleReason::thermal));
  EXPECT_FALSE(throttled(std::uint64_t{1} << 36U).at(ThrottleReason::power));
}

TEST(GpuMetrics, OtherVersionsAndBrokenFilesHaveNothing) {
  for (const unsigned content : {0U, 1U, 2U, 5U, 9U, 255U}) {
    const auto table = parse_gpu_metrics(Table(2208, content).bytes());
    EXPECT_TRUE(table.links.empty() && table.throttled.empty()) << content;
  }
  Table apu(2208, 4);
  apu.put(2, 2, 1);
  EXPECT_THAT(parse_gpu_metrics(apu.bytes()).links, IsEmpty());
  const std::string whole = mi300(7, 136, 200).bytes();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const auto table = parse_gpu_metrics(whole.substr(0, size));
    EXPECT_LE(table.links.size(), 8U);
    EXPECT_EQ(table.links.empty(), size < 208) << size;
  }
  Table smaller = mi300(7, 136, 200);
  smaller.put(0, 216, 2);  // the size that it states
  EXPECT_THAT(parse_gpu_metrics(smaller.bytes()).links, SizeIs(2));
}

struct AmdSamplerTest : testing::Test, PairOfMi300x {
  AmdSamplerTest() : probe(options()) {}
  AmdOptions options() const {
    AmdOptions out;
    out.root = root();
    return out;
  }
  // hwmon's folder of a device.
  static std::string hwmon(const std::string& pci) { return bus(pci) + "/hwmon/hwmon3"; }
  void measure(const std::string& pci) const {
    write(hwmon(pci) + "/temp1_input", "45000\n");
    write(hwmon(pci) + "/temp1_label", "edge\n");
    write(hwmon(pci) + "/temp2_input", "61500\n");
    write(hwmon(pci) + "/temp2_label", "junction\n");
    write(hwmon(pci) + "/temp3_input", "70000\n");
    write(hwmon(pci) + "/temp3_label", "mem\n");
    write(hwmon(pci) + "/power1_input", "750250000\n");
    write(hwmon(pci) + "/freq1_input", "2100000000\n");
    write(bus(pci) + "/mem_info_vram_used", "1000000\n");
    write(bus(pci) + "/mem_info_vram_total", "206158430208\n");
    write(bus(pci) + "/gpu_busy_percent", "93\n");
    ras(pci, "umc", "ue: 1\nce: 40\n");
    ras(pci, "gfx", "ue: 2\nce: 5\n");
  }
  AmdProbe probe;
};

TEST_F(AmdSamplerTest, EveryValueInItsUnit) {
  measure(kFirst);
  write(bus(kFirst) + "/gpu_metrics", mi300(7, 136, 200).bytes());
  ASSERT_TRUE(probe.discover().ok());
  const auto chips = probe.sample();
  ASSERT_THAT(chips, SizeIs(1));  // the other one has none of the files
  EXPECT_EQ(chips[0].chip.value, 0);
  EXPECT_DOUBLE_EQ(*chips[0].temperature_celsius, 61.5);
  EXPECT_DOUBLE_EQ(*chips[0].memory_temperature_celsius, 70);
  EXPECT_DOUBLE_EQ(*chips[0].power_watts, 750.25);
  EXPECT_DOUBLE_EQ(*chips[0].clock_hertz, 2.1e9);
  EXPECT_EQ(chips[0].memory_used_bytes, 1'000'000U);
  EXPECT_EQ(chips[0].memory_total_bytes, 206'158'430'208U);
  EXPECT_DOUBLE_EQ(*chips[0].utilization, 0.93);
  EXPECT_EQ(chips[0].corrected_errors, 45U);
  EXPECT_EQ(chips[0].uncorrected_errors, 3U);
  EXPECT_THAT(chips[0].links, SizeIs(8));
}

TEST_F(AmdSamplerTest, OlderChipsHaveAnEdgeAndAnAverage) {
  measure(kSecond);
  write(hwmon(kSecond) + "/temp2_input", "4294967295\n");  // disabled
  write(hwmon(kSecond) + "/power1_average", "300000000\n");
  ASSERT_TRUE(probe.discover().ok());
  const auto chips = probe.sample();
  ASSERT_THAT(chips, SizeIs(1));
  EXPECT_EQ(chips[0].chip.value, 1);
  EXPECT_DOUBLE_EQ(*chips[0].temperature_celsius, 45);
  EXPECT_DOUBLE_EQ(*chips[0].power_watts, 300);
}

TEST_F(AmdSamplerTest, NonsenseAndMissingChipsAreNotMeasured) {
  measure(kFirst);
  measure(kSecond);
  for (const char* file : {"/temp1_input", "/temp2_input", "/power1_input"}) {
    write(hwmon(kFirst) + file, "hot\n");
  }
  write(bus(kFirst) + "/gpu_busy_percent", "-5\n");
  write(bus(kFirst) + "/gpu_metrics", std::string(300, '\xff'));
  ASSERT_TRUE(probe.discover().ok());
  auto chips = probe.sample();
  ASSERT_THAT(chips, SizeIs(2));
  EXPECT_FALSE(chips[0].temperature_celsius || chips[0].power_watts || chips[0].utilization);
  EXPECT_THAT(chips[0].links, IsEmpty());
  remove(nodes() + "3");
  remove(bus(kSecond));
  generation(2);
  ASSERT_TRUE(probe.discover().ok());
  chips = probe.sample();
  ASSERT_THAT(chips, SizeIs(1));
  EXPECT_EQ(chips[0].chip.value, 0);
}

}  // namespace
}  // namespace chipweave::agent
