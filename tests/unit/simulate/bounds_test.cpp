#include "common/solver/simulate/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/simulate/small_cluster.hpp"

namespace chipweave::simulate {
namespace {

using test::machine;
using test::node;
using test::pod;

TEST(AloneGbps, IsTheBestEmptyNodeWithRoom) {
  const ModelCluster cluster(
      {node("fast", machine("hgx-h100-8"), 1000), node("slow", machine("pcie-8"))});
  const double fast = cluster.nodes()[0].machine->best_gbps(2, false);
  const double slow = cluster.nodes()[1].machine->best_gbps(2, false);
  EXPECT_EQ(alone_gbps({pod(2, 1000), pod(2, 2000), pod(1), pod(0), pod(16)}, cluster),
            (std::vector<double>{fast, slow, 0, 0, 0}));
}

// The most that any assignment of these pods to these nodes has, by trying all of them.
double by_hand(const std::vector<domain::TracePod>& pods, std::vector<int> free,
               const ModelCluster& cluster, std::size_t from = 0) {
  if (from == pods.size()) return 0;
  double best = by_hand(pods, free, cluster, from + 1);
  for (std::size_t n = 0; n < free.size(); ++n) {
    if (free[n] < pods[from].chips) continue;
    free[n] -= pods[from].chips;
    const double here = cluster.nodes()[n].machine->best_gbps(pods[from].chips, false);
    best = std::max(best, here + by_hand(pods, free, cluster, from + 1));
    free[n] += pods[from].chips;
  }
  return best;
}

TEST(MostGbpsTogether, IsNeverBelowWhatAnyAssignmentHas) {
  const auto fast = machine("hgx-v100-8");
  const auto slow = machine("pcie-8");
  const auto mesh = machine("mi250x-8");
  const ModelCluster cluster({node("a", fast), node("b", slow), node("c", mesh)});
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    std::vector<domain::TracePod> pods;
    std::vector<PlacedPod> placed;
    for (std::size_t i = 0; i < 6; ++i) {
      pods.push_back(pod(1 << (random() % 4)));
      placed.push_back({i, 0, 0});
    }
    const double bound = most_gbps_together(pods, placed, cluster);
    EXPECT_GE(bound, by_hand(pods, {8, 8, 8}, cluster) - 1e-6);
    double alone = 0;
    for (const double gbps : alone_gbps(pods, cluster)) alone += gbps;
    EXPECT_LE(bound, alone + 1e-6);
  }
}

TEST(MostGbpsTogether, MovesAPodToMakeRoomForAnother) {
  // Two pods of 8: the fast node takes one. A pod of 8 that fits the fast node only displaces the
  // one that fits both.
  const ModelCluster cluster(
      {node("fast", machine("hgx-h100-8"), 96000), node("slow", machine("pcie-8"), 50000)});
  const std::vector<domain::TracePod> pods{pod(8, 1000), pod(8, 60000)};
  const double fast = cluster.nodes()[0].machine->best_gbps(8, false);
  const double slow = cluster.nodes()[1].machine->best_gbps(8, false);
  EXPECT_NEAR(most_gbps_together(pods, std::vector<PlacedPod>{{0, 0, 0}, {1, 0, 0}}, cluster),
              fast + slow, 1e-6);
}

}  // namespace
}  // namespace chipweave::simulate
