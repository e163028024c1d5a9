#include <limits>

#include <gtest/gtest.h>

#include "common/codec/agent/probe_line.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::ChipMetrics;
using domain::MetricsSample;
using domain::ThrottleReason;
using domain::TrafficKind;

ChipMetrics whole_chip() {
  ChipMetrics out;
  out.chip = ChipIndex{3};
  out.temperature_celsius = -4.5;
  out.memory_temperature_celsius = 60;
  out.power_watts = 350.125;
  out.memory_used_bytes = 85'899'345'920;
  out.memory_total_bytes = std::numeric_limits<std::int64_t>::max();
  out.utilization = 0.93;
  out.clock_hertz = 1.98e9;
  out.corrected_errors = 0;
  out.uncorrected_errors = 7;
  out.throttled = {{ThrottleReason::sw_power_cap, true}, {ThrottleReason::current, false}};
  out.links = {{TrafficKind::nvlink, 17, 1, 2},
               {TrafficKind::xgmi, 0, 3, 4},
               {TrafficKind::hccs, 6, 5, 6},
               {TrafficKind::pcie, 0, 7, 8}};
  out.rates = {{TrafficKind::hccs, 7, 1.5e9, 0}};
  return out;
}

std::string written(const ChipMetrics& chip) {
  std::string line = ProbeLineWriter::metrics({1234, {chip}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  line.pop_back();
  return line;
}

ChipMetrics read_back(const ChipMetrics& chip) {
  const auto line = ProbeLineReader().read(written(chip));
  EXPECT_TRUE(line.ok()) << line.error().text();
  const auto& sample = std::get<MetricsSample>(*line);
  EXPECT_EQ(sample.taken_ms, 1234);
  EXPECT_EQ(sample.chips.size(), 1U);
  return sample.chips.at(0);
}

TEST(MetricsLine, CarriesAWholeMeasurement) {
  const ChipMetrics sent = whole_chip();
  const ChipMetrics read = read_back(sent);
  EXPECT_EQ(read.chip, sent.chip);
  EXPECT_EQ(read.temperature_celsius, sent.temperature_celsius);
  EXPECT_EQ(read.memory_temperature_celsius, sent.memory_temperature_celsius);
  EXPECT_EQ(read.power_watts, sent.power_watts);
  EXPECT_EQ(read.memory_used_bytes, sent.memory_used_bytes);
  EXPECT_EQ(read.memory_total_bytes, sent.memory_total_bytes);
  EXPECT_EQ(read.utilization, sent.utilization);
  EXPECT_EQ(read.clock_hertz, sent.clock_hertz);
  EXPECT_EQ(read.corrected_errors, 0U);
  EXPECT_EQ(read.uncorrected_errors, 7U);
  EXPECT_EQ(read.throttled, sent.throttled);
  ASSERT_EQ(read.rates.size(), 1U);
  EXPECT_EQ(read.rates[0].kind, TrafficKind::hccs);
  EXPECT_EQ(read.rates[0].port, 7);
  EXPECT_EQ(read.rates[0].sent, 1.5e9);
  EXPECT_EQ(read.rates[0].received, 0);
  ASSERT_EQ(read.links.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(read.links[i].kind, sent.links[i].kind);
    EXPECT_EQ(read.links[i].port, sent.links[i].port);
    EXPECT_EQ(read.links[i].sent_bytes, sent.links[i].sent_bytes);
    EXPECT_EQ(read.links[i].received_bytes, sent.links[i].received_bytes);
  }
}

TEST(MetricsLine, WhatIsNotReportedStaysAbsent) {
  ChipMetrics sent;
  sent.chip = ChipIndex{1};
  EXPECT_EQ(written(sent), R"({"taken_ms":1234,"metrics":[{"chip":1}]})");
  const ChipMetrics read = read_back(sent);
  EXPECT_FALSE(read.temperature_celsius || read.power_watts || read.memory_used_bytes ||
               read.corrected_errors);
  EXPECT_TRUE(read.throttled.empty() && read.links.empty());
}

// What a broken driver reports must not end the probe process that passes it on.
TEST(MetricsLine, NonsenseIsLeftOutWhenItIsWritten) {
  ChipMetrics sent = whole_chip();
  sent.temperature_celsius = 4'294'967'295.0;
  sent.memory_temperature_celsius = std::numeric_limits<double>::quiet_NaN();
  sent.power_watts = -1;
  sent.utilization = 2.55;
  sent.clock_hertz = std::numeric_limits<double>::infinity();
  sent.memory_used_bytes = std::numeric_limits<std::uint64_t>::max();
  sent.links = {{TrafficKind::nvlink, 0, std::numeric_limits<std::uint64_t>::max(), 0},
                {TrafficKind::nvlink, -1, 0, 0}};
  for (int i = 0; i < 30; ++i) sent.links.push_back({TrafficKind::xgmi, i, 1, 1});
  sent.rates = {{TrafficKind::hccs, 0, -1, 0}, {TrafficKind::hccs, 0, 0, 1e300}};
  for (int i = 0; i < 100; ++i) sent.rates.push_back({TrafficKind::hccs, i, 1, 1});
  const ChipMetrics read = read_back(sent);
  EXPECT_FALSE(read.temperature_celsius || read.memory_temperature_celsius || read.power_watts ||
               read.utilization || read.clock_hertz || read.memory_used_bytes);
  EXPECT_EQ(read.uncorrected_errors, 7U);
  ASSERT_EQ(read.links.size(), 30U);
  EXPECT_EQ(read.rates.size(), domain::kMaxLinksOfChip - 30);
  EXPECT_EQ(read.links[0].kind, TrafficKind::xgmi);
}

TEST(MetricsLine, ABrokenLineIsAnErrorThatNamesThePlace) {
  const auto problem = [](const std::string& chips) {
    const auto read = ProbeLineReader().read(R"({"taken_ms":1,"metrics":)" + chips + "}");
    return read.ok() ? "read" : read.error().text();
  };
  const auto expect = [&](const std::string& chips, const std::string& text) {
    EXPECT_NE(problem(chips).find(text), std::string::npos) << problem(chips);
  };
  EXPECT_EQ(problem(R"([{"chip":0}])"), "read");
  expect(R"({"chip":0})", "metrics");
  expect(R"([{"power":1}])", "metrics[0].chip");
  expect(R"([{"chip":-1}])", "metrics[0].chip");
  expect(R"([{"chip":0},{"chip":0}])", "metrics[1]: is about the same chip");
  expect(R"([{"chip":0,"power":-1}])", "metrics[0].power: is out of range");
  expect(R"([{"chip":0,"utilization":1.5}])", "metrics[0].utilization: is out of range");
  expect(R"([{"chip":0,"memory_used":-1}])", "metrics[0].memory_used");
  expect(R"([{"chip":0,"throttled":{"rumour":true}}])", "metrics[0].throttled.rumour");
  expect(R"([{"chip":0,"throttled":{"power":1}}])", "metrics[0].throttled.power");
  expect(R"([{"chip":0,"links":[{"kind":"x","port":0,"sent":0,"received":0}]}])",
         "metrics[0].links[0].kind");
  expect(R"([{"chip":0,"links":[{"kind":"nvlink","port":0,"sent":0}]}])",
         "metrics[0].links[0].received");
  const std::string link = R"({"kind":"nvlink","port":0,"sent":0,"received":0})";
  expect(R"([{"chip":0,"links":[)" + link + "," + link + "]}]", "metrics[0].links[1]");
  expect(R"([{"chip":0,"links":[)" + link + R"(],"rates":[)" + link + "]}]", "metrics[0].rates[0]");
  expect(R"([{"chip":0,"rates":[{"kind":"hccs","port":0,"sent":-1,"received":0}]}])",
         "metrics[0].rates[0].sent");
  expect(R"([{"chip":0,"rates":[{"kind":"hccs","port":0,"sent":1}]}])",
         "metrics[0].rates[0].received");
  expect(R"([{"chip":0,"more":1}])", "unknown key \"more\" (metrics[0])");
  EXPECT_FALSE(ProbeLineReader().read(R"({"metrics":[]})").ok());
  std::string many = R"({"chip":0})";
  for (int i = 1; i <= 64; ++i) many += R"(,{"chip":)" + std::to_string(i) + "}";
  expect("[" + many + "]", "metrics");
}

}  // namespace
}  // namespace chipweave::codec
