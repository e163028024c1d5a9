#include "common/solver/simulate/policies/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/simulate/small_cluster.hpp"

namespace chipweave::simulate {
namespace {

using test::machine;
using test::node;
using test::pod;
using test::replayed;

std::vector<std::size_t> nodes_of(const Replayed& run) {
  std::vector<std::size_t> out;
  for (const PlacedPod& p : run.placed) out.push_back(p.node);
  return out;
}

using Nodes = std::vector<std::size_t>;

struct TwoBoxes : ::testing::Test {
  TwoBoxes() {
    const auto box = machine("pcie-8");
    nodes = {node("a", box), node("b", box)};
  }
  std::vector<ModelNode> nodes;
};

TEST_F(TwoBoxes, FirstFitTakesTheFirstNodeWithRoom) {
  EXPECT_EQ(nodes_of(replayed({pod(6), pod(4), pod(2)}, ModelCluster(nodes), "first-fit", false)),
            (Nodes{0, 1, 0}));
}

TEST_F(TwoBoxes, BestFitTakesTheFullestNode) {
  EXPECT_EQ(
      nodes_of(replayed({pod(5), pod(7), pod(1), pod(1)}, ModelCluster(nodes), "best-fit", false)),
      (Nodes{0, 1, 1, 0}));
}

TEST_F(TwoBoxes, SpreadTakesTheEmptiestNode) {
  EXPECT_EQ(
      nodes_of(replayed({pod(1), pod(1), pod(2), pod(1)}, ModelCluster(nodes), "spread", false)),
      (Nodes{0, 1, 0, 1}));
}

TEST_F(TwoBoxes, EveryPolicyRespectsCpuAndMemory) {
  nodes[0].cpu_milli = 500;
  nodes[1].memory_mib = 1;
  for (const NamedPolicy& policy : policies()) {
    const auto run =
        replayed({pod(1), pod(1), pod(0, 400)}, ModelCluster(nodes), policy.name, false);
    EXPECT_EQ(nodes_of(run), (Nodes{1, 0})) << policy.name;
    EXPECT_EQ(run.refused, (Nodes{1})) << policy.name;
  }
}

TEST_F(TwoBoxes, NoChipIsGivenTwice) {
  std::vector<domain::TracePod> pods;
  for (int i = 0; i < 12; ++i) pods.push_back(pod(1 + i % 3));
  for (const NamedPolicy& policy : policies()) {
    const auto run = replayed(pods, ModelCluster(nodes), policy.name, false);
    int chips = 0;
    for (const PlacedPod& p : run.placed) chips += pods[p.pod].chips;
    EXPECT_LE(chips, 16) << policy.name;
    EXPECT_NEAR(run.allocated.at_end, chips / 16.0, 1e-12) << policy.name;
  }
}

TEST(GradientDescent, KeepsTheNodeWholeThatBigPodsNeed) {
  const auto box = machine("pcie-8");
  // Half of the pods ask for eight chips. One chip goes where no eight are left anyway.
  std::vector<ModelNode> nodes{node("a", box), node("b", box)};
  nodes[1].free = ChipSet::first(6);
  EXPECT_EQ(nodes_of(replayed({pod(1), pod(8)}, ModelCluster(nodes), "fgd", false)), (Nodes{1, 0}));
  EXPECT_EQ(nodes_of(replayed({pod(1), pod(8)}, ModelCluster(nodes), "first-fit", false)),
            (Nodes{0}));
}

TEST(GradientDescent, SeesCpu) {
  const auto box = machine("pcie-8");
  // Both have one free chip. The pod leaves none on either; on "a" it takes the CPU that the
  // free chips of "c" do not have, which makes no difference to fragmentation, on "b" likewise.
  std::vector<ModelNode> nodes{node("a", box, 96000), node("b", box, 3000)};
  nodes[0].free = ChipSet::first(2);
  nodes[1].free = ChipSet::first(2);
  // Pods of 2,000: the second chip of "b" would be left without CPU.
  EXPECT_EQ(nodes_of(replayed({pod(1, 2000)}, ModelCluster(nodes), "fgd", false)), (Nodes{0}));
}

TEST(PairSum, TakesLinkedChips) {
  const auto box = machine("pcie-nvlink-bridge-8");
  std::vector<ModelNode> nodes{node("a", box)};
  nodes[0].free = ChipSet{1, 2, 3};
  const auto by_pairs = replayed({pod(2)}, ModelCluster(nodes), "pair-sum", false);
  const auto by_index = replayed({pod(2)}, ModelCluster(nodes), "first-fit", false);
  EXPECT_GT(by_pairs.placed.front().gbps, 2 * by_index.placed.front().gbps);
}

TEST(Chipweave, FastestNodeForPodsThatCanUseIt) {
  std::vector<ModelNode> nodes{node("slow", machine("pcie-8")),
                               node("fast", machine("hgx-h100-8"))};
  EXPECT_EQ(nodes_of(replayed({pod(8), pod(8)}, ModelCluster(nodes), "chipweave", false)),
            (Nodes{1, 0}));
}

TEST(Chipweave, SinglePodsKeepOffTheFabricAndPodsWithANeedOfLittleToo) {
  std::vector<ModelNode> nodes{node("fast", machine("hgx-h100-8")),
                               node("slow", machine("pcie-8"))};
  domain::TracePod modest = pod(2);
  modest.needs_gbps = 20;
  EXPECT_EQ(nodes_of(replayed({pod(1), modest, pod(2)}, ModelCluster(nodes), "chipweave", false)),
            (Nodes{1, 1, 0}));
}

TEST(Chipweave, PodsWithoutChipsGoWhereNoChipsAreFree) {
  const auto box = machine("pcie-8");
  std::vector<ModelNode> nodes{node("a", box), node("b", box)};
  EXPECT_EQ(nodes_of(replayed({pod(8), pod(0)}, ModelCluster(nodes), "chipweave", false)),
            (Nodes{0, 0}));
  // Not asked, kube-scheduler takes the node with most CPU and memory.
  const std::vector<domain::TracePod> pods{pod(8), pod(0)};
  const auto arrivals = recorded(pods);
  const auto mix = request_mix(pods);
  ReplayOptions options;
  options.managed_only = true;
  EXPECT_EQ(nodes_of(replay({pods, arrivals, mix, false}, ModelCluster(nodes),
                            test::policy("chipweave"), options)),
            (Nodes{0, 1}));
}

TEST(Chipweave, ObeysVendorRules) {
  std::vector<ModelNode> nodes{node("a", machine("ascend-910a-8"))};
  nodes[0].free = ChipSet{0, 1, 4};  // two of one ring, one of the other
  const auto run = replayed({pod(3)}, ModelCluster(nodes), "chipweave", false);
  EXPECT_TRUE(run.placed.empty());
}

}  // namespace
}  // namespace chipweave::simulate
