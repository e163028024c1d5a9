// Nodes with the same leaf for each adapter, in the choice among equally good plans.
#include "common/solver/gang/rails/rail_leaves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "common/solver/gang/planner.hpp"

namespace chipweave::solver::rail_leaves_test {
namespace {

using domain::Gang;
using domain::Plan;
using ::testing::ElementsAre;

const std::vector<std::string> kLevels{"block", "rack"};

struct Net {
  Fabric fabric{2};
  RailLeaves leaves;
  std::vector<int> free;

  void add(const std::string& block, const std::string& rack, int chips, int set) {
    const auto id = fabric.add("n" + std::to_string(leaves.size()), {block, rack});
    fabric.set_free(*id, chips);
    leaves.push_back(set);
    free.push_back(chips);
  }
  Plan plan(const Gang& gang, const std::function<double(const Plan&)>& gbps) const {
    return align_leaves(fabric, kLevels, gang, leaves, gbps, plan_gang(fabric, kLevels, gang));
  }
};

Gang gang_of(int pods, int chips) {
  Gang gang;
  gang.pods = gang.min_member = pods;
  gang.chips_per_pod = chips;
  return gang;
}

double same(const Plan& /*plan*/) { return 100; }

std::set<FabricNodeId> nodes_of(const Plan& plan) {
  std::set<FabricNodeId> out;
  for (const domain::PlannedPod& pod : plan.pods) out.insert(pod.node);
  return out;
}

TEST(RailLeavesOfPlans, NodesWithTheSameLeavesComeFirst) {
  Net net;
  for (const int set : {0, 1, 0, 1}) net.add("b", "r", 8, set);
  EXPECT_THAT(nodes_of(net.plan(gang_of(2, 8), same)), ElementsAre(0U, 2U));
  // Where the others are faster they are left alone.
  const auto fastest_first = [](const Plan& plan) {
    return nodes_of(plan) == std::set<FabricNodeId>{0, 1} ? 200.0 : 100.0;
  };
  EXPECT_THAT(nodes_of(net.plan(gang_of(2, 8), fastest_first)), ElementsAre(0U, 1U));
}

TEST(RailLeavesOfPlans, FewestDomainsAndNodesStayFirst) {
  Net net;
  net.add("b", "r1", 8, 0);
  net.add("b", "r1", 8, 1);
  net.add("b", "r2", 8, 0);
  EXPECT_THAT(nodes_of(net.plan(gang_of(2, 8), same)), ElementsAre(0U, 1U));
}

TEST(RailLeavesOfPlans, NodesWhoseLeavesAreNotKnownFitAll) {
  Net net;
  net.add("b", "r", 8, 0);
  net.add("b", "r", 8, 1);
  net.add("b", "r", 8, kNoLeaves);
  net.add("b", "r", 8, 1);
  EXPECT_EQ(leaf_sets(net.leaves, net.plan(gang_of(3, 8), same)), 1);
  EXPECT_EQ(leaf_sets(net.leaves, net.plan(gang_of(4, 8), same)), 2);
}

TEST(RailLeavesOfPlans, NoPlanAsGoodHasFewerSetsOfLeavesInMostNetworks) {
  std::mt19937 random(9);
  const auto draw = [&random](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int cases = 0;
  int best = 0;
  int gained = 0;
  while (cases < 200) {
    Net net;
    for (int i = 0; i < 7; ++i)
      net.add("b" + std::to_string(draw(0, 1)), "r" + std::to_string(draw(0, 1)), draw(0, 2),
              draw(0, 2));
    const Gang gang = gang_of(draw(2, 6), 1);
    const Plan first = plan_gang(net.fabric, kLevels, gang);
    if (!first.fits) continue;
    ++cases;
    const Plan found = net.plan(gang, same);
    ASSERT_EQ(found.domains, first.domains);
    ASSERT_LE(nodes_used(found), nodes_used(first));
    EXPECT_EQ(found.pods.size(), first.pods.size());
    std::vector<int> by_node(net.free.size(), 0);
    for (const domain::PlannedPod& pod : found.pods)
      EXPECT_LE(++by_node[pod.node], net.free[pod.node]);
    int fewest = leaf_sets(net.leaves, found);
    if (fewest < leaf_sets(net.leaves, first)) ++gained;
    for (unsigned mask = 1; mask < 128; ++mask) {
      Plan other;
      int room = 0;
      for (FabricNodeId i = 0; i < 7; ++i) {
        if ((mask >> i & 1U) == 0) continue;
        room += net.free[i];
        other.pods.push_back({0, i, 0});
        if (net.free[i] == 0) room = -100;
      }
      if (room < gang.pods || static_cast<int>(other.pods.size()) > nodes_used(first)) continue;
      const auto domains_of = [&](int level) {
        std::set<DomainId> domains;
        for (const domain::PlannedPod& pod : other.pods)
          domains.insert(net.fabric.domain_of(pod.node, level));
        return static_cast<int>(domains.size());
      };
      if (std::vector<int>{domains_of(0), domains_of(1)} != first.domains) continue;
      fewest = std::min(fewest, leaf_sets(net.leaves, other));
    }
    if (fewest == leaf_sets(net.leaves, found)) ++best;
  }
  EXPECT_GE(best, cases * 9 / 10) << best << " of " << cases;
  EXPECT_GT(gained, 10);
}

}  // namespace
}  // namespace chipweave::solver::rail_leaves_test
