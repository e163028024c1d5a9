#include "node-agent/app/metrics/carried_report.hpp"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {
namespace {

using domain::CarriedPeaks;
using domain::ChipIndex;
using std::chrono::minutes;
using std::chrono::seconds;

struct CarriedReportTest : testing::Test {
  // Ten seconds in which chip 0 sends that many GB/s.
  bool run(double gbps) {
    clock.advance(seconds(10));
    sent += static_cast<std::uint64_t>(gbps * 1e10);
    domain::ChipMetrics chip;
    chip.links = {{domain::TrafficKind::nvlink, 0, sent, 0}};
    const auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock.now().time_since_epoch());
    report.take({taken.count(), {chip}}, clock.now());
    return report.due(clock.now());
  }
  double reported() const {
    const auto found = report.reported().find(ChipIndex{0});
    return found == report.reported().end() ? -1 : found->second;
  }
  ManualClock clock;
  std::uint64_t sent = 0;
  CarriedReport report;
};

TEST_F(CarriedReportTest, TheFirstPeakIsReportedAtOnceThenEveryFiveMinutes) {
  EXPECT_FALSE(run(0)) << "one measurement is no rate";
  EXPECT_TRUE(run(40));
  EXPECT_EQ(reported(), 40);
  int changes = 0;
  for (int i = 1; i < 30; ++i) changes += run(40 + 5.0 * i) ? 1 : 0;
  EXPECT_EQ(changes, 0);
  EXPECT_TRUE(run(200));
  EXPECT_EQ(reported(), 200);
}

TEST_F(CarriedReportTest, SmallChangesAreNotReported) {
  run(0);
  run(100);
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(run(i % 2 == 0 ? 91 : 109)) << i;
  EXPECT_EQ(reported(), 100);
}

TEST_F(CarriedReportTest, APeakIsForgottenAfterItsWindow) {
  run(0);
  run(100);
  int changes = 0;
  for (int i = 0; i < 70; ++i) changes += run(1) ? 1 : 0;
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(reported(), 1);
}

TEST_F(CarriedReportTest, WhatIsNoLongerMeasuredIsWithdrawn) {
  run(0);
  run(100);
  clock.advance(minutes(4));
  EXPECT_FALSE(report.due(clock.now()));
  clock.advance(minutes(1));
  EXPECT_TRUE(report.due(clock.now()));
  EXPECT_TRUE(report.reported().empty());
  EXPECT_FALSE(report.due(clock.now()));
}

}  // namespace
}  // namespace chipweave::agent
