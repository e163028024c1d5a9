// Moves on clusters that are large or hard: the answer keeps the rules, and the counted steps end
// the search.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/solver/gang/defrag/defrag.hpp"
#include "common/solver/gang/defrag/whole_nodes.hpp"

namespace chipweave::solver {
namespace {

struct FullCluster {
  Fabric fabric{2};
  std::vector<DefragPod> pods;

  void node(const std::string& name, const std::string& rack, int free) {
    const auto id = fabric.add(name, {rack, name});
    fabric.set_free(id.value(), free);
  }
  void pod(const std::string& node, int chips) {
    DefragPod pod;
    pod.name = "p" + std::to_string(pods.size());
    pod.node = fabric.find(node);
    pod.chips = pod.released = chips;
    pod.movable = true;
    pods.push_back(pod);
  }
  DefragPlan plan(const DefragTarget& target = {}, std::uint64_t steps = kMaxDefragSteps) const {
    DefragRequest request;
    request.fabric = &fabric;
    request.pods = &pods;
    request.target = target;
    return plan_moves(request, steps);
  }
};

FullCluster random_full_cluster(int nodes, int pods, int chips, int largest, unsigned seed) {
  std::mt19937 random(seed);
  const auto any = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  FullCluster out;
  std::vector<int> free(static_cast<std::size_t>(nodes), chips);
  for (int n = 0; n < nodes; ++n)
    out.node("n" + std::to_string(n), "r" + std::to_string(n / 16), chips);
  for (int p = 0; p < pods; ++p) {
    const int n = any(nodes);
    const int size = 1 + any(largest);
    int& left = free[static_cast<std::size_t>(n)];
    if (size > left) continue;
    left -= size;
    out.pod("n" + std::to_string(n), size);
  }
  for (int n = 0; n < nodes; ++n)
    out.fabric.set_free(out.fabric.find("n" + std::to_string(n)),
                        free[static_cast<std::size_t>(n)]);
  return out;
}

// The moves fit, leave no pod on a freed node, and are as many as the plan says.
void expect_sound(const FullCluster& cluster, const DefragPlan& plan) {
  std::map<FabricNodeId, int> free;
  std::vector<FabricNodeId> at;
  for (const DefragPod& pod : cluster.pods) at.push_back(pod.node);
  std::int64_t chips = 0;
  for (const PodMove& move : plan.moves) {
    const DefragPod& pod = cluster.pods[move.pod];
    free.try_emplace(move.from, cluster.fabric.node(move.from).free).first->second += pod.chips;
    free.try_emplace(move.to, cluster.fabric.node(move.to).free).first->second -= pod.chips;
    at[move.pod] = move.to;
    chips += pod.chips;
  }
  for (const auto& [node, left] : free) EXPECT_GE(left, 0) << cluster.fabric.node(node).name;
  EXPECT_EQ(chips, plan.chips_moved);
  const std::set<FabricNodeId> used(at.begin(), at.end());
  EXPECT_EQ(static_cast<std::size_t>(plan.free_after), cluster.fabric.size() - used.size());
}

TEST(DefragLimits, TenThousandNodesAndTwentyThousandPods) {
  const FullCluster cluster = random_full_cluster(10'000, 20'000, 8, 4, 1);
  ASSERT_GT(cluster.pods.size(), 15'000U);
  const DefragPlan plan = cluster.plan();
  expect_sound(cluster, plan);
  EXPECT_GT(plan.freed.size(), 2000U);
  if (plan.bound) {
    EXPECT_LE(plan.bound->domains - static_cast<int>(plan.freed.size()), 60);
  }
  const DefragPlan racks = cluster.plan({.level = 0, .domains = 5});
  EXPECT_EQ(racks.freed.size(), 5U);
  EXPECT_TRUE(racks.optimal);
}

// Many pods of odd sizes on nodes that are nearly full: what can be freed is a hard packing.
TEST(DefragLimits, HardPackingsEndWithTheirSteps) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const FullCluster cluster = random_full_cluster(120, 420, 64, 31, seed);
    const DefragPlan some = cluster.plan({}, 300'000);
    expect_sound(cluster, some);
    EXPECT_EQ(some.optimal, !some.bound.has_value());
    const DefragPlan racks = cluster.plan({.level = 0}, 300'000);
    EXPECT_EQ(racks.optimal, !racks.bound.has_value());
  }
}

// One node with the most pods that a request may have: no depth of recursion depends on them.
TEST(DefragLimits, ManyPodsOnOneNode) {
  constexpr int kPods = 100'000;
  FullCluster cluster;
  cluster.node("a", "r1", 0);
  cluster.node("b", "r2", 2 * kPods);
  for (int i = 0; i < kPods; ++i) cluster.pod("a", 1);
  const DefragPlan onto_a_free_node = cluster.plan();
  EXPECT_TRUE(onto_a_free_node.moves.empty());
  EXPECT_TRUE(onto_a_free_node.optimal);
  cluster.pod("b", 1);  // now b is in use, and takes all pods of a
  const DefragPlan plan = cluster.plan();
  EXPECT_EQ(plan.moves.size(), static_cast<std::size_t>(kPods));
  EXPECT_EQ(plan.freed.size(), 1U);
  EXPECT_TRUE(cluster.plan({.max_moves = kPods - 1}).moves.empty());
}

TEST(DefragLimits, NothingToMove) {
  FullCluster cluster;
  cluster.node("a", "r1", 8);
  cluster.node("b", "r1", 0);
  const DefragPlan plan = cluster.plan();
  EXPECT_EQ(plan.free_before, 1);  // b has no chips
  EXPECT_EQ(plan.in_use, 0);
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_TRUE(plan.optimal);
}

TEST(WholeNodes, LargestGangsOfFreeNodes) {
  Fabric fabric(2);
  std::vector<ChipUse> uses;
  const auto add = [&](const std::string& name, const std::string& rack, int chips, bool used,
                       bool healthy) {
    const auto id = fabric.add(name, {"b", rack});
    fabric.set_healthy(id.value(), healthy);
    uses.push_back({chips, used});
  };
  add("a", "r1", 8, false, true);
  add("b", "r1", 8, true, true);
  add("c", "r2", 8, false, true);
  add("d", "r2", 16, false, true);
  add("e", "r2", 8, false, false);
  add("f", "r3", 4, false, true);
  EXPECT_EQ(usual_node_size(fabric, uses), 8);
  EXPECT_EQ(largest_whole_node_gangs(fabric, uses, 8), (std::vector<int>{3, 2}));
  EXPECT_EQ(largest_whole_node_gangs(fabric, uses, 16), (std::vector<int>{1, 1}));
  EXPECT_EQ(usual_node_size(Fabric(1), {}), 0);
  EXPECT_EQ(largest_whole_node_gangs(fabric, uses, 0), (std::vector<int>{0, 0}));
}

}  // namespace
}  // namespace chipweave::solver
