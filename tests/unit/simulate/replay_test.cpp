#include "common/solver/simulate/replay.hpp"

#include <gtest/gtest.h>

#include "common/solver/simulate/bounds.hpp"
#include "common/solver/simulate/summary.hpp"
#include "tests/unit/simulate/small_cluster.hpp"

namespace chipweave::simulate {
namespace {

using test::machine;
using test::node;
using test::pod;
using test::replayed;

ModelCluster one_box() { return ModelCluster({node("a", machine("pcie-8"))}); }

TEST(Replay, APodWithoutRoomWaitsUntilAnotherEnds) {
  // The first pod has all chips until 100, the second from then until 150.
  const auto run = replayed({pod(8, 1, 0, 100), pod(8, 1, 10, 50), pod(1, 1, 20, 5)}, one_box(),
                            "first-fit", true);
  ASSERT_EQ(run.placed.size(), 3U);
  EXPECT_EQ(run.placed[1].pod, 1U);
  EXPECT_EQ(run.waits_s, (std::vector<double>{0, 90, 130}));
  EXPECT_EQ(run.most_waiting, 2U);
  EXPECT_TRUE(run.refused.empty());
  // Full until the last arrival.
  EXPECT_DOUBLE_EQ(run.allocated.mean, 1);
  EXPECT_DOUBLE_EQ(run.allocated.at_end, 1);
}

TEST(Replay, SmallPodsMayPassLargeOnes) {
  const auto run =
      replayed({pod(4, 1, 0, 100), pod(4, 1, 0, 30), pod(8, 1, 1, 10), pod(2, 1, 2, 10)}, one_box(),
               "chipweave", true);
  ASSERT_EQ(run.placed.size(), 4U);
  EXPECT_EQ(run.placed[2].pod, 3U);
  EXPECT_EQ(run.waits_s, (std::vector<double>{0, 0, 28, 99}));
}

TEST(Replay, WhatNeverFitsIsRefused) {
  const auto run = replayed({pod(16, 1, 0, 1), pod(1, 1, 1, 1)}, one_box(), "best-fit", true);
  EXPECT_EQ(run.placed.size(), 1U);
  EXPECT_EQ(run.refused, (std::vector<std::size_t>{0}));
}

TEST(Replay, PodsThatStayFillTheClusterAndTheRestIsRefused) {
  const auto run = replayed({pod(4), pod(8), pod(4), pod(1)}, one_box(), "first-fit", false);
  EXPECT_EQ(run.placed.size(), 2U);
  EXPECT_EQ(run.refused, (std::vector<std::size_t>{1, 3}));
  EXPECT_DOUBLE_EQ(run.allocated.at_end, 1);
  EXPECT_DOUBLE_EQ(run.allocated.mean, (0.5 + 0.5 + 1 + 1) / 4);
  // Four chips are free twice; a quarter of the pods asks for eight.
  EXPECT_DOUBLE_EQ(run.fragmented.mean, 2 * 0.5 * 0.25 / 4);
  ASSERT_FALSE(run.samples.empty());
  EXPECT_DOUBLE_EQ(run.samples.back().asked, 17.0 / 8);
  EXPECT_TRUE(run.waits_s.empty());
}

TEST(Replay, CallsClockAndProgress) {
  const std::vector<domain::TracePod> pods{pod(1), pod(1)};
  const auto arrivals = recorded(pods);
  const auto mix = request_mix(pods);
  std::uint64_t now = 0;
  std::vector<std::size_t> done;
  ReplayOptions options;
  options.clock_ns = [&now] { return now += 7; };
  options.progress = [&done](std::size_t n) { done.push_back(n); };
  const auto run =
      replay({pods, arrivals, mix, false}, one_box(), test::policy("chipweave"), options);
  EXPECT_EQ(run.decision_ns, (std::vector<std::uint64_t>{7, 7}));
  EXPECT_EQ(done, (std::vector<std::size_t>{1, 2}));
}

TEST(Summary, FiguresOfARun) {
  const ModelCluster cluster(
      {node("fast", machine("hgx-h100-8")), node("slow", machine("pcie-8"))});
  const std::vector<domain::TracePod> pods{pod(8), pod(8), pod(1)};
  const auto arrivals = recorded(pods);
  const auto mix = request_mix(pods);
  const Workload workload{pods, arrivals, mix, false};
  const auto run = replay(workload, cluster, test::policy("chipweave"), {});
  const Summary s = summary_of(workload, run, alone_gbps(pods, cluster), cluster);
  EXPECT_EQ(s.multi_chip_placed, 2U);
  EXPECT_EQ(s.never_placed, 1U);
  const double fast = cluster.nodes()[0].machine->best_gbps(8, false);
  const double slow = cluster.nodes()[1].machine->best_gbps(8, false);
  EXPECT_DOUBLE_EQ(s.mean_gbps, (fast + slow) / 2);
  EXPECT_DOUBLE_EQ(s.worst_gbps, slow);
  EXPECT_DOUBLE_EQ(s.of_alone, (fast + slow) / (2 * fast));
  EXPECT_NEAR(s.of_together, 1, 1e-9);
  ASSERT_EQ(s.sizes.size(), 2U);
  EXPECT_EQ(s.sizes[1].chips, 8);
  EXPECT_DOUBLE_EQ(s.sizes[1].alone_gbps, fast);
}

TEST(Distribution, OfNothingAndOfSomething) {
  EXPECT_DOUBLE_EQ(distribution_of({}).most, 0);
  const Distribution d = distribution_of({3, 1, 2});
  EXPECT_DOUBLE_EQ(d.mean, 2);
  EXPECT_DOUBLE_EQ(d.median, 2);
  EXPECT_DOUBLE_EQ(d.least, 1);
  EXPECT_DOUBLE_EQ(d.most, 3);
}

}  // namespace
}  // namespace chipweave::simulate
