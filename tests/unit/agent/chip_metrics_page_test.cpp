#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "common/base/limits.hpp"
#include "common/domain/topology_builder.hpp"
#include "node-agent/server/chip_metrics.hpp"
#include "tests/fakes/agent/machines.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::MetricsSample;
using domain::Signal;
using domain::SignalKind;
using domain::ThrottleReason;
using domain::TrafficKind;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

domain::NodeTopology machine(int chips, const std::string& id = "GPU-", int without = -1) {
  domain::TopologyBuilder builder;
  builder.vendor = "nvidia";
  for (int i = 0; i < chips; ++i) {
    if (i == without) continue;
    domain::Chip chip;
    chip.index = ChipIndex{i};
    chip.id = id + std::to_string(i);
    chip.model = "H100";
    chip.pci = "0000:" + std::to_string(10 + i) + ":00.0";
    builder.add_chip(std::move(chip));
  }
  auto made = std::move(builder).build();
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(made).value();
}

domain::ChipMetrics hot(int chip, double celsius) {
  domain::ChipMetrics out;
  out.chip = ChipIndex{chip};
  out.temperature_celsius = celsius;
  return out;
}

// Everything that a chip can report.
domain::ChipMetrics full(int chip) {
  domain::ChipMetrics out = hot(chip, 50);
  out.memory_temperature_celsius = 60;
  out.power_watts = 700;
  out.memory_used_bytes = 1;
  out.memory_total_bytes = 2;
  out.utilization = 0.5;
  out.clock_hertz = 1e9;
  out.corrected_errors = 3;
  out.uncorrected_errors = 4;
  for (std::size_t i = 0; i < domain::kThrottleReasons; ++i) {
    out.throttled[static_cast<ThrottleReason>(i)] = i % 2 == 0;
  }
  for (std::size_t i = 1; i < domain::kMaxLinksOfChip; ++i) {
    out.links.push_back({TrafficKind::nvlink, static_cast<int>(i), 1000, 2000});
  }
  out.rates = {{TrafficKind::hccs, 0, 3e9, 4e9}};
  return out;
}

Signal event(const std::string& code, std::optional<ChipIndex> chip) {
  return {SignalKind::event, code, chip, std::nullopt, "", 0, ""};
}

struct ChipMetricsPageTest : testing::Test {
  ManualClock clock;
  ChipMetricsPage page{"n1", seconds(10), clock};
  CarriedReport carried;

  void SetUp() override { clock.advance(seconds(1000)); }
  void take(std::vector<domain::ChipMetrics> chips) {
    const auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock.now().time_since_epoch());
    const domain::MetricsSample sample{taken.count(), std::move(chips)};
    carried.take(sample, clock.now());
    page.sample(sample, carried);
  }
  std::vector<std::string> series() const {
    std::vector<std::string> out;
    std::istringstream lines(page.text());
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#")) out.push_back(line);
    }
    return out;
  }
};

TEST_F(ChipMetricsPageTest, IsEmptyWithoutChips) {
  take({hot(0, 40)});
  page.event(event("xid.79", ChipIndex{0}));
  page.owners({{ChipIndex{0}, {{"ns", "pod", "c"}}}});
  EXPECT_EQ(page.text(), "");
}

TEST_F(ChipMetricsPageTest, OneMetricAfterTheOtherWithHelpAndType) {
  page.chips(machine(2), {});
  take({hot(0, 40.5), hot(1, 41)});
  EXPECT_EQ(
      page.text(),
      "# HELP chipweave_chip_health 1 while the chip and its network port are healthy, else "
      "0.\n"
      "# TYPE chipweave_chip_health gauge\n"
      "chipweave_chip_health{chip=\"0\",uuid=\"GPU-0\",pci=\"0000:10:00.0\",model=\"H100\","
      "node=\"n1\"} 1\n"
      "chipweave_chip_health{chip=\"1\",uuid=\"GPU-1\",pci=\"0000:11:00.0\",model=\"H100\","
      "node=\"n1\"} 1\n"
      "# HELP chipweave_chip_cordoned 1 while an operator keeps the chip out of service, by a "
      "cordon or a maintenance.\n"
      "# TYPE chipweave_chip_cordoned gauge\n"
      "chipweave_chip_cordoned{chip=\"0\",uuid=\"GPU-0\",pci=\"0000:10:00.0\",model=\"H100\","
      "node=\"n1\"} 0\n"
      "chipweave_chip_cordoned{chip=\"1\",uuid=\"GPU-1\",pci=\"0000:11:00.0\",model=\"H100\","
      "node=\"n1\"} 0\n"
      "# HELP chipweave_chip_temperature_celsius Temperature of the chip.\n"
      "# TYPE chipweave_chip_temperature_celsius gauge\n"
      "chipweave_chip_temperature_celsius{chip=\"0\",uuid=\"GPU-0\",pci=\"0000:10:00.0\","
      "model=\"H100\",node=\"n1\"} 40.5\n"
      "chipweave_chip_temperature_celsius{chip=\"1\",uuid=\"GPU-1\",pci=\"0000:11:00.0\","
      "model=\"H100\",node=\"n1\"} 41\n");
}

TEST_F(ChipMetricsPageTest, WhatOperatorsKeepOutOfServiceIsToldFromWhatIsBroken) {
  domain::Fault cordon;
  cordon.code = "cordoned";
  cordon.chip = ChipIndex{1};
  domain::Fault broken = cordon;
  broken.code = "xid.79";
  broken.chip = ChipIndex{0};
  const auto cordoned = [this] {
    std::string out;
    for (const std::string& line : series()) {
      if (line.starts_with("chipweave_chip_cordoned{")) out += line.back();
    }
    return out;
  };
  page.chips(machine(3), {broken, cordon});
  EXPECT_EQ(cordoned(), "010");
  cordon.code = "maintenance";
  cordon.chip.reset();
  page.chips(machine(3), {broken, cordon});
  EXPECT_EQ(cordoned(), "111");
}

TEST_F(ChipMetricsPageTest, AMeasurementGrowsOldHealthDoesNot) {
  page.chips(machine(1), {});
  take({full(0)});
  clock.advance(seconds(10));
  take({full(0)});
  clock.advance(seconds(30));
  EXPECT_THAT(page.text(), HasSubstr("chipweave_chip_temperature_celsius"));
  EXPECT_THAT(page.text(), HasSubstr("chipweave_chip_link_peak_bytes_per_second"));
  clock.advance(seconds(1));
  EXPECT_EQ(series().size(), 2U);
  EXPECT_THAT(page.text(), HasSubstr("chipweave_chip_health"));
}

TEST_F(ChipMetricsPageTest, ChipsThatDisappearTakeTheirSeriesWithThem) {
  page.chips(machine(3), {});
  take({full(0), full(1), full(2)});
  page.event(event("xid.79", ChipIndex{1}));
  page.owners({{ChipIndex{1}, {{"ns", "pod", "c"}}}});
  ASSERT_THAT(page.text(), HasSubstr("chip=\"1\""));
  page.chips(machine(3, "GPU-", 1), {});
  EXPECT_THAT(page.text(), Not(HasSubstr("chip=\"1\"")));
  EXPECT_THAT(page.text(), HasSubstr("chip=\"2\""));
  // Another chip with that number has its own XIDs.
  page.chips(machine(3), {});
  EXPECT_THAT(page.text(), Not(HasSubstr("xid=\"79\"")));
}

TEST_F(ChipMetricsPageTest, LabelsOfThePodThatHasTheChip) {
  page.chips(machine(2), {});
  EXPECT_THAT(page.text(), Not(HasSubstr("chipweave_chip_containers")));
  page.owners({{ChipIndex{0}, {{"ml", "train-0", "main"}}}});
  EXPECT_THAT(page.text(), HasSubstr("chipweave_chip_health{chip=\"0\",uuid=\"GPU-0\",pci=\"0000:"
                                     "10:00.0\",model=\"H100\",node=\"n1\",namespace=\"ml\",pod="
                                     "\"train-0\",container=\"main\"} 1\n"));
  EXPECT_THAT(page.text(), HasSubstr("chipweave_chip_health{chip=\"1\",uuid=\"GPU-1\",pci=\"0000:"
                                     "11:00.0\",model=\"H100\",node=\"n1\"} 1\n"));
  EXPECT_THAT(page.text(), HasSubstr("container=\"main\"} 1\n"));
  page.owners({});
  EXPECT_THAT(page.text(), Not(HasSubstr("train-0")));
  EXPECT_THAT(page.text(), HasSubstr("chipweave_chip_containers"));
}

TEST_F(ChipMetricsPageTest, OfSeveralContainersWhatTheyAgreeOn) {
  page.chips(machine(3), {});
  page.owners({{ChipIndex{0}, {{"ml", "a", "main"}, {"ml", "a", "side"}}},
               {ChipIndex{1}, {{"ml", "a", "main"}, {"ml", "b", "main"}}},
               {ChipIndex{2}, {{"ml", "a", "main"}, {"web", "a", "main"}}}});
  const auto lines = series();
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_THAT(lines[0], HasSubstr("node=\"n1\",namespace=\"ml\",pod=\"a\"} 1"));
  EXPECT_THAT(lines[1], HasSubstr("node=\"n1\",namespace=\"ml\"} 1"));
  EXPECT_THAT(lines[2], HasSubstr("node=\"n1\"} 1"));
  for (std::size_t i = 6; i < 9; ++i) {
    EXPECT_TRUE(lines[i].starts_with("chipweave_chip_containers"));
    EXPECT_TRUE(lines[static_cast<std::size_t>(i)].ends_with("} 2"));
  }
}

TEST_F(ChipMetricsPageTest, XidsAreCountedUpToSixteenDifferentOnes) {
  page.chips(machine(2), {});
  for (int round = 0; round < 2; ++round) {
    for (int xid = 0; xid < 20; ++xid) {
      page.event(event("xid." + std::to_string(xid), ChipIndex{0}));
    }
  }
  page.event(event("nvml.sbe", ChipIndex{0}));
  page.event(event("xid.79", std::nullopt));
  const auto lines = series();
  const auto xids = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("chipweave_chip_xid_errors_total");
  });
  EXPECT_EQ(xids, 17);
  EXPECT_THAT(page.text(), HasSubstr("xid=\"0\"} 2\n"));
  EXPECT_THAT(page.text(), HasSubstr("xid=\"15\"} 2\n"));
  EXPECT_THAT(page.text(), HasSubstr("xid=\"other\"} 8\n"));
}

TEST_F(ChipMetricsPageTest, LabelsAreEscapedAndCut) {
  page.chips(machine(1, "a\"b\\c\nd\xff"), {});
  page.owners({{ChipIndex{0}, {{std::string(5000, 'x'), "", ""}}}});
  EXPECT_THAT(page.text(), HasSubstr("uuid=\"a\\\"b\\\\c?d?0\""));
  EXPECT_THAT(page.text(), HasSubstr("namespace=\"" + std::string(128, 'x') + "\""));
}

TEST_F(ChipMetricsPageTest, PromtoolAcceptsEverything) {
  if (std::system("promtool --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed";
  page.chips(machine(2, "a\"b\\c\nd\xff"), {});
  page.owners({{ChipIndex{0}, {{"ml", "train-0", "main"}}}});
  for (int xid = 0; xid < 20; ++xid) page.event(event("xid." + std::to_string(xid), ChipIndex{0}));
  take({full(0), full(1)});
  clock.advance(seconds(10));
  take({full(0), full(1)});
  const io::TempFolder folder;
  const std::string path = folder.put("page", page.text());
  EXPECT_EQ(std::system(("promtool check metrics < " + path).c_str()), 0) << page.text();
}

// The bound that the header and docs/reference/metrics.md state.
TEST_F(ChipMetricsPageTest, TheNumberOfSeriesIsBounded) {
  page.chips(machine(limits::kMaxChips), {});
  std::vector<domain::ChipMetrics> all;
  ChipOwners owners;
  for (int i = 0; i < limits::kMaxChips; ++i) {
    all.push_back(full(i));
    for (int user = 0; user < 100; ++user) {
      owners[ChipIndex{i}].push_back({"ns", "pod-" + std::to_string(user), "c"});
    }
    for (int xid = 0; xid < 1000; ++xid) {
      page.event(event("xid." + std::to_string(xid), ChipIndex{i}));
    }
  }
  page.owners(owners);
  take(all);
  clock.advance(seconds(10));
  take(all);
  const auto lines = series();
  EXPECT_EQ(lines.size(), limits::kMaxChips * ChipMetricsPage::kMaxSeriesOfChip);
  std::set<std::string> names;
  for (const std::string& line : lines) names.insert(line.substr(0, line.find('}')));
  EXPECT_EQ(names.size(), lines.size());  // each once
  EXPECT_EQ(ChipMetricsPage::kMaxSeriesOfChip, 119U);
}

}  // namespace
}  // namespace chipweave::agent
