// Plans down to the chips: among equal plans the nodes with the fastest chips, neighbouring chips
// for pods that share a node, vendors' rules, and the bandwidth of the whole gang.
#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/rails/best_nodes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/solver/gang/planner.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChipPlans : public ::testing::Test {
 protected:
  FabricNodeId add(const std::string& name, const std::string& rack, const std::string& profile,
                   std::initializer_list<int> free) {
    const FabricNodeId id = *fabric.add(name, {rack, name});
    auto topology = std::make_shared<domain::NodeTopology>(test::profile(profile));
    NodeMachine node{std::make_shared<Machine>(*topology), topology, {}};
    for (const int slot : free) node.free.insert(slot);
    fabric.set_free(id, node.free.size());
    machines.emplace(id, std::move(node));
    return id;
  }
  ChipPlan plan(int pods, int chips) {
    Gang gang;
    gang.pods = pods;
    gang.min_member = pods;
    gang.chips_per_pod = chips;
    limit_by_chips(fabric, machines, gang);
    return assign_chips(fabric, levels, gang, machines, {std::nullopt, std::nullopt},
                        plan_on_best_nodes(fabric, levels, gang, machines));
  }
  std::set<std::string> nodes(const ChipPlan& plan) const {
    std::set<std::string> out;
    for (const domain::PlannedPod& pod : plan.plan.pods) out.insert(fabric.node(pod.node).name);
    return out;
  }

  const std::vector<std::string> levels{"rack", "hostname"};
  Fabric fabric{2};
  NodeMachines machines;
};

TEST_F(ChipPlans, AmongEqualNodesTheOneWithTheFastestFreeChips) {
  // Four free V100 each: one node with a ring of double links, one with single links.
  add("slow", "r1", "hgx-v100-8", {0, 1, 4, 5});
  add("fast", "r1", "hgx-v100-8", {0, 1, 2, 3});
  const ChipPlan found = plan(4, 1);
  ASSERT_TRUE(found.plan.fits) << found.plan.reason;
  EXPECT_THAT(nodes(found), ElementsAre("fast"));
  EXPECT_EQ(found.bandwidth.slowest_node, "fast");
}

TEST_F(ChipPlans, FewerDomainsComeBeforeFasterChips) {
  add("a", "r1", "pcie-8", {0, 1, 2, 3, 4, 5, 6, 7});
  add("b", "r2", "hgx-h100-8", {0, 1, 2, 3});
  add("c", "r3", "hgx-h100-8", {0, 1, 2, 3});
  EXPECT_THAT(nodes(plan(8, 1)), ElementsAre("a"));
}

TEST_F(ChipPlans, EachPodHasItsOwnChipsInRankOrder) {
  add("n", "r1", "hgx-v100-8", {0, 1, 2, 3, 4, 5, 6, 7});
  const ChipPlan found = plan(4, 2);
  ASSERT_EQ(found.chips.size(), 4U);
  std::set<int> all;
  for (const std::vector<int>& chips : found.chips) {
    EXPECT_EQ(chips.size(), 2U);
    all.insert(chips.begin(), chips.end());
  }
  EXPECT_EQ(all.size(), 8U);
}

TEST_F(ChipPlans, APodsChipsAlongTheirRing) {
  add("n", "r1", "hgx-v100-8", {0, 1, 2, 3, 4, 5, 6, 7});
  const ChipPlan found = plan(1, 8);
  ASSERT_EQ(found.rings.size(), 1U);
  EXPECT_THAT(found.chips.front(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  // Every hop of it is an NVLink of the cube mesh.
  const std::vector<int>& ring = found.rings.front();
  const domain::NodeTopology machine = test::profile("hgx-v100-8");
  ASSERT_EQ(ring.size(), 8U);
  EXPECT_EQ(ring.front(), 0);
  for (std::size_t i = 0; i < ring.size(); ++i)
    EXPECT_NE(machine.link(ring[i], ring[(i + 1) % ring.size()]), nullptr) << i;
}

TEST_F(ChipPlans, ANodeTakesNoMorePodsThanHaveLegalChips) {
  add("n", "r1", "ascend-910a-8", {0, 1, 2, 3, 4, 5, 6, 7});
  const ChipPlan found = plan(2, 3);
  EXPECT_FALSE(found.plan.fits);
  EXPECT_THAT(found.plan.reason, HasSubstr("legal sizes of a distributed job are 1, 2, 4, 8"));
}

TEST_F(ChipPlans, AMachineThatIsNotKnownIsLeftOutOfTheBandwidth) {
  add("n", "r1", "hgx-h100-8", {0, 1, 2, 3, 4, 5, 6, 7});
  const FabricNodeId other = *fabric.add("m", {"r1", "m"});
  fabric.set_free(other, 8);
  const ChipPlan found = plan(2, 8);
  ASSERT_TRUE(found.plan.fits);
  ASSERT_TRUE(found.bandwidth.gbps);
  EXPECT_GT(*found.bandwidth.gbps, 0);
  EXPECT_THAT(found.bandwidth.left_out, ::testing::Contains(HasSubstr("chips of m")));
}

}  // namespace
}  // namespace chipweave::solver
