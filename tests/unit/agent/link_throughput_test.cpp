#include "node-agent/app/metrics/link_throughput.hpp"

#include <gtest/gtest.h>

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::ChipMetrics;
using domain::LinkTraffic;
using domain::MetricsSample;
using domain::TrafficKind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint64_t kGb = 1'000'000'000;

MetricsSample at(milliseconds taken, std::vector<LinkTraffic> links, int chip = 0) {
  ChipMetrics of;
  of.chip = ChipIndex{chip};
  of.links = std::move(links);
  return {taken.count(), {of}};
}

LinkTraffic nvlink(int port, std::uint64_t sent, std::uint64_t received) {
  return {TrafficKind::nvlink, port, sent, received};
}

LinkTraffic pcie(std::uint64_t sent, std::uint64_t received) {
  return {TrafficKind::pcie, 0, sent, received};
}

struct LinkThroughputTest : testing::Test {
  LinkThroughput traffic;
  double now() const {
    const auto carried = traffic.of(ChipIndex{0});
    return carried ? carried->now : -1;
  }
  double peak() const {
    const auto carried = traffic.of(ChipIndex{0});
    return carried ? carried->peak : -1;
  }
};

TEST_F(LinkThroughputTest, NothingIsKnownBeforeTheSecondMeasurement) {
  EXPECT_EQ(now(), -1);
  traffic.take(at(seconds(100), {nvlink(0, 5 * kGb, 5 * kGb)}));
  EXPECT_EQ(now(), -1);
  traffic.take(at(seconds(110), {nvlink(0, 5 * kGb, 5 * kGb)}));
  EXPECT_EQ(now(), 0);
}

TEST_F(LinkThroughputTest, TheBusierDirectionOfAllFastLinks) {
  traffic.take(at(seconds(0), {nvlink(0, 0, 0), nvlink(1, 0, 0), pcie(0, 0)}));
  traffic.take(at(seconds(10), {nvlink(0, 10 * kGb, 20 * kGb), nvlink(1, 10 * kGb, 30 * kGb),
                                pcie(900 * kGb, 900 * kGb)}));
  EXPECT_EQ(now(), 5e9);
}

TEST_F(LinkThroughputTest, AChipWithoutFastLinksHasItsPcieTraffic) {
  traffic.take(at(seconds(0), {pcie(0, 0)}));
  traffic.take(at(seconds(10), {pcie(20 * kGb, 10 * kGb)}));
  EXPECT_EQ(now(), 2e9);
}

// The time of a measurement counts, not that of its arrival.
TEST_F(LinkThroughputTest, RatesAreOfTheTimeBetweenTheMeasurements) {
  traffic.take(at(seconds(0), {nvlink(0, 0, 0)}));
  traffic.take(at(milliseconds(2'500), {nvlink(0, 5 * kGb, 0)}));
  EXPECT_EQ(now(), 2e9);
  // The clock stands still, or goes back: no rate.
  traffic.take(at(milliseconds(2'500), {nvlink(0, 500 * kGb, 0)}));
  traffic.take(at(milliseconds(1'000), {nvlink(0, 900 * kGb, 0)}));
  EXPECT_EQ(peak(), 2e9);
}

TEST_F(LinkThroughputTest, ACounterThatRestartsOrWrapsIsNoTraffic) {
  traffic.take(at(seconds(0), {nvlink(0, 100 * kGb, 100 * kGb), nvlink(1, 0, 0)}));
  traffic.take(at(seconds(10), {nvlink(0, 0, 3 * kGb), nvlink(1, 10 * kGb, 10 * kGb)}));
  EXPECT_EQ(now(), 1e9);
  traffic.take(at(seconds(20), {nvlink(0, 20 * kGb, 3 * kGb), nvlink(1, 10 * kGb, 10 * kGb)}));
  EXPECT_EQ(now(), 2e9);
}

TEST_F(LinkThroughputTest, RatesOfTheDriverCountAsTheyAre) {
  const auto with_rates = [](int second) {
    MetricsSample out = at(seconds(second), {pcie(0, 0)});
    out.chips[0].rates = {{TrafficKind::hccs, 1, 3e9, 1e9}, {TrafficKind::hccs, 2, 4e9, 1e9}};
    return out;
  };
  traffic.take(with_rates(0));
  traffic.take(with_rates(10));
  EXPECT_EQ(now(), 7e9);
}

TEST_F(LinkThroughputTest, ALinkThatAppearsHasNoRateYet) {
  traffic.take(at(seconds(0), {nvlink(0, 0, 0)}));
  traffic.take(at(seconds(10), {nvlink(0, 10 * kGb, 0), nvlink(1, 70 * kGb, 0)}));
  EXPECT_EQ(now(), 1e9);
}

TEST_F(LinkThroughputTest, ThePeakLastsAsLongAsTheWindow) {
  std::uint64_t total = 0;
  const auto carry = [&](int from, int to, std::uint64_t each) {
    for (int i = from; i < to; ++i) {
      traffic.take(at(seconds(10 * i), {nvlink(0, total += each, 0)}));
    }
  };
  carry(0, 2, 10 * kGb);   // at 10 s: 1 GB/s
  carry(2, 3, 90 * kGb);   // at 20 s: 9 GB/s
  carry(3, 4, 40 * kGb);   // at 30 s: 4 GB/s
  carry(4, 62, 20 * kGb);  // 2 GB/s up to 610 s
  EXPECT_EQ(now(), 2e9);
  EXPECT_EQ(peak(), 9e9);
  carry(62, 63, 20 * kGb);  // at 620 s
  EXPECT_EQ(peak(), 4e9);
  carry(63, 64, 20 * kGb);
  EXPECT_EQ(peak(), 2e9);
}

TEST_F(LinkThroughputTest, ChipsThatAreNoLongerMeasuredAreForgotten) {
  traffic.take(at(seconds(0), {nvlink(0, 0, 0)}));
  traffic.take(at(seconds(10), {nvlink(0, kGb, 0)}));
  traffic.take(at(seconds(20), {nvlink(0, kGb, 0)}, 1));
  EXPECT_EQ(now(), -1);
  traffic.take(at(seconds(30), {nvlink(0, 50 * kGb, 0)}));
  EXPECT_EQ(now(), -1);
}

}  // namespace
}  // namespace chipweave::agent
