// Repairs of gangs whose pods differ: what a moved pod keeps of its set, its chips and its nodes,
// and what the whole gang means for vendors' rules and the predicted bandwidth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/rails/best_nodes.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;
using domain::PodSet;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class Repairs : public ::testing::Test {
 protected:
  FabricNodeId add(const std::string& rack, const std::string& name, int free) {
    const FabricNodeId id = *fabric.add(name, {rack, name});
    fabric.set_free(id, free);
    return id;
  }
  FabricNodeId add(const std::string& rack, const std::string& name, const std::string& profile,
                   ChipSet free, ChipSet held = {}) {
    const FabricNodeId id = add(rack, name, free.size());
    auto topology = std::make_shared<domain::NodeTopology>(test::profile(profile));
    machines.emplace(
        id, NodeMachine{std::make_shared<Machine>(*topology), topology, free, held, !held.empty()});
    return id;
  }
  static PodSet set_of(const std::string& name, int pods, int chips) {
    PodSet set;
    set.name = name;
    set.pods = pods;
    set.chips_per_pod = chips;
    return set;
  }
  static Gang gang_of(int pods, int chips) {
    Gang gang;
    gang.pods = pods;
    gang.chips_per_pod = chips;
    return gang;
  }
  static Gang gang_of(std::vector<PodSet> sets) {
    Gang gang;
    for (const PodSet& set : sets) gang.pods += set.pods;
    gang.sets = std::move(sets);
    return gang;
  }
  Plan repair(const Gang& gang) const { return plan_gang(fabric, levels, gang); }
  ChipPlan repair_to_chips(const Gang& gang) {
    limit_by_chips(fabric, machines, gang);
    return *plan_down_to_chips(fabric, levels, gang, machines, {}, [&](const Fabric& on) {
      return Result<Plan>(plan_on_best_nodes(on, levels, gang, machines));
    });
  }
  // Node by pod.
  std::map<int, std::string> places(const Plan& plan) const {
    std::map<int, std::string> out;
    for (const domain::PlannedPod& pod : plan.pods) out[pod.pod] = fabric.node(pod.node).name;
    return out;
  }

  std::set<std::string> nodes(const Plan& plan) const {
    std::set<std::string> out;
    for (const domain::PlannedPod& pod : plan.pods) out.insert(fabric.node(pod.node).name);
    return out;
  }

  const std::vector<std::string> levels{"rack", "hostname"};
  Fabric fabric{2};
  NodeMachines machines;
};

TEST_F(Repairs, APodKeepsItsOwnChips) {
  const FabricNodeId lost = add("r1", "a", 0);
  add("r1", "small", 1);
  add("r1", "large", 4);
  Gang gang = gang_of(3, 0);
  gang.pod_chips = {1, 1, 4};
  gang.existing[lost] = {2, {0, 2}};
  gang.existing[add("r1", "b", 0)] = {1, {1}};
  gang.failed = {lost};
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(0, "small"), Pair(2, "large")));
}

TEST_F(Repairs, WhereRanksAreNotListedPodsAreNumberedDepthFirst) {
  const FabricNodeId lost = add("r1", "b", 0);
  Gang gang = gang_of(3, 0);
  gang.pod_chips = {1, 4, 1};
  gang.existing[add("r1", "a", 0)].pods = 1;
  gang.existing[lost].pods = 1;
  gang.existing[add("r1", "c", 0)].pods = 1;
  gang.failed = {lost};
  add("r1", "small", 1);
  EXPECT_FALSE(repair(gang).fits) << "pod 1 has four chips";
  add("r1", "large", 4);
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(1, "large")));
}

TEST_F(Repairs, NumbersMayDifferFromRanks) {
  const FabricNodeId lost = add("r1", "a", 0);
  add("r1", "c", 8);
  Gang gang = gang_of({set_of("leader", 1, 1), set_of("workers", 2, 2)});
  gang.roles = true;
  gang.existing[lost] = {1, {2}, {0}};
  gang.existing[add("r1", "b", 0)] = {2, {0, 1}, {1, 2}};
  gang.failed = {lost};
  const Plan plan = repair(gang);
  ASSERT_EQ(plan.pods.size(), 1U) << plan.reason;
  EXPECT_EQ(plan.pods[0].pod, 0);
  EXPECT_EQ(plan.pods[0].rank, 2);
  EXPECT_EQ(plan.pods[0].set, 0) << "the leader";
}

TEST_F(Repairs, AllowedNodesAreKept) {
  const FabricNodeId lost = add("r1", "a", 0);
  add("r1", "near", 8);
  const FabricNodeId far = add("r2", "far", 8);
  Gang gang = gang_of(2, 1);
  gang.existing[lost] = {2, {0, 1}};
  gang.failed = {lost};
  gang.allowed[1] = {far};
  EXPECT_THAT(places(repair(gang)), Contains(Pair(1, "far")));
}

TEST_F(Repairs, SpareNodesAreKept) {
  const FabricNodeId lost = add("r1", "a", 4);
  Gang gang = gang_of(2, 4);
  gang.existing[lost] = {1, {0}};
  gang.existing[add("r1", "b", 0)] = {1, {1}};
  gang.failed = {lost};
  add("r1", "c", 4);
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(0, "c"))) << "soft: no other node is left";
  gang.spare = domain::Spare{0, 1};
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(0, "c"))) << "the failed node is no spare one";
  gang.existing.erase(fabric.find("b"));
  gang.existing[add("r2", "d", 0)] = {1, {1}};
  add("r2", "e", 4);
  add("r2", "f", 4);
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(0, "e"))) << "f is left";
}

TEST_F(Repairs, APodOfARoleStaysInTheRolesDomain) {
  const FabricNodeId lost = add("r1", "a", 0);
  const FabricNodeId b = add("r1", "b", 0);
  const FabricNodeId d = add("r2", "d", 0);
  Gang gang = gang_of({set_of("x", 2, 2), set_of("y", 2, 2)});
  gang.roles = true;
  for (PodSet& set : gang.sets) set.required_level = 0;
  gang.existing[lost] = {2, {0, 2}};
  gang.existing[b] = {1, {1}};
  gang.existing[d] = {1, {3}};
  gang.failed = {lost};
  add("r1", "c", 8);
  add("r2", "e", 8);
  const Plan none = repair(gang);
  EXPECT_FALSE(none.fits);
  EXPECT_EQ(none.reason, "the running pods of role y are not in one rack");
  gang.existing[lost] = {1, {0}};
  gang.existing[d] = {2, {2, 3}};
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(0, "c")));
  gang.failed = {d};
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(2, "e"), Pair(3, "e")));
}

TEST_F(Repairs, ASetThatLostItsOnlyHostMovesAsAWhole) {
  const FabricNodeId lost = add("r1", "a", 0);
  add("r1", "b", 1);
  add("r1", "c", 2);
  Gang gang = gang_of({set_of("s", 2, 1), set_of("t", 1, 1)});
  gang.sets[0].required_level = 1;
  gang.sets[0].own_min = 2;
  gang.existing[lost] = {2, {0, 1}};
  gang.existing[add("r1", "d", 0)] = {1, {2}};
  gang.failed = {lost};
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(0, "c"), Pair(1, "c")));
}

TEST_F(Repairs, SlicesOfARoleStayInTheDomainThatLostThem) {
  const FabricNodeId lost = add("r1", "a", 0);
  add("r1", "c", 2);
  add("r2", "d", 8);
  Gang gang = gang_of({set_of("x", 2, 2), set_of("y", 1, 1)});
  gang.roles = true;
  gang.sets[0].slices = {{0, 2}};
  gang.existing[lost] = {2, {0, 2}};
  gang.existing[add("r1", "b", 0)] = {1, {1}};
  gang.failed = {lost};
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(0, "c"), Pair(2, "d")));
  gang.existing.erase(lost);
  const FabricNodeId other = add("r2", "e", 0);
  gang.existing[other] = {1, {0}};
  gang.failed = {other};
  fabric.set_free(fabric.find("d"), 0);
  EXPECT_FALSE(repair(gang).fits) << "c is in the other rack";
}

// The chips that are free would hold a part of one subgroup, or all of the other.
TEST_F(Repairs, SubgroupsGetTheirMinimumOrNothing) {
  const FabricNodeId lost = add("r1", "a", 0);
  add("r1", "c", 3);
  Gang gang = gang_of({set_of("s", 2, 2), set_of("t", 2, 1)});
  for (PodSet& set : gang.sets) set.own_min = 2;
  gang.existing[lost] = {4, {0, 1, 2, 3}};
  gang.failed = {lost};
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(2, "c"), Pair(3, "c")));
}

TEST_F(Repairs, ASubgroupWithoutRoomDoesNotStopAnother) {
  const FabricNodeId a = add("r1", "a", 0);
  const FabricNodeId b = add("r2", "b", 0);
  Gang gang = gang_of({set_of("s", 2, 1), set_of("t", 1, 1)});
  for (PodSet& set : gang.sets) {
    set.required_level = 0;
    set.own_min = set.pods;
  }
  gang.existing[a] = {2, {0, 1}};
  gang.existing[b] = {1, {2}};
  gang.failed = {a, b};
  add("r1", "c", 1);
  add("r2", "d", 1);
  EXPECT_THAT(places(repair(gang)), ElementsAre(Pair(2, "d")));
}

// Slices of the coarsest level that lost their whole domain: nothing is above it.
TEST_F(Repairs, ASliceWithoutADomainMayBeRefused) {
  const FabricNodeId lost = add("r1", "a", 0);
  fabric.set_healthy(lost, false);
  Gang gang = gang_of(2, 1);
  gang.slices = {{0, 2}};
  gang.existing[lost].pods = 2;
  gang.failed = {lost};
  const Plan plan = repair(gang);
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(plan.reason, HasSubstr("in the network, which lost them"));
}

// One die of an A3 module is legal for a job of one pod only.
TEST_F(Repairs, VendorsRulesCountTheWholeGang) {
  const FabricNodeId lost = add("r1", "a", 0);
  add("r1", "b", "ascend-a3-16", ChipSet{0, 1});
  Gang gang = gang_of(2, 1);
  gang.existing[lost] = {1, {0}};
  gang.failed = {lost};
  EXPECT_TRUE(repair_to_chips(gang_of(1, 1)).plan.fits);
  gang.existing[add("r1", "c", 0)] = {1, {1}};
  const ChipPlan none = repair_to_chips(gang);
  EXPECT_FALSE(none.plan.fits);
}

TEST_F(Repairs, NewPodsOfARunningGangAreDistributed) {
  const FabricNodeId runs = add("r1", "a", 0);
  add("r1", "b", "ascend-a3-16", ChipSet{0, 1});
  Gang gang = gang_of(1, 1);
  gang.existing[runs].pods = 1;
  EXPECT_FALSE(repair_to_chips(gang).plan.fits);
}

TEST_F(Repairs, ChipsAreChosenBesideThoseThatTheGangHolds) {
  // 0 and 3 share a double NVLink of the cube mesh, 0 and 1 a single one.
  const FabricNodeId lost = add("r1", "a", 0);
  const FabricNodeId stays = add("r1", "b", "hgx-v100-8", ChipSet{1, 3, 5, 6}, ChipSet{0});
  Gang gang = gang_of(2, 1);
  gang.existing[lost] = {1, {0}};
  gang.existing[stays] = {1, {1}};
  gang.failed = {lost};
  const ChipPlan found = repair_to_chips(gang);
  ASSERT_TRUE(found.plan.fits) << found.plan.reason;
  EXPECT_THAT(found.chips, ElementsAre(ElementsAre(3)));
  ASSERT_TRUE(found.bandwidth.chips);
  EXPECT_EQ(*found.bandwidth.chips, machines.at(stays).machine->gbps(ChipSet{0, 3}));
}

TEST_F(Repairs, TheBandwidthIsThatOfTheWholeGang) {
  const FabricNodeId lost = add("r1", "a", 0);
  add("r1", "b", "hgx-h100-8", ChipSet::first(8));
  // The gang's other pods are on a slower machine.
  const FabricNodeId slow = add("r1", "c", "pcie-8", ChipSet{}, ChipSet::first(8));
  Gang gang = gang_of(2, 8);
  gang.existing[lost] = {1, {0}};
  gang.existing[slow] = {1, {1}};
  gang.failed = {lost};
  ChipPlan found = repair_to_chips(gang);
  ASSERT_TRUE(found.plan.fits) << found.plan.reason;
  EXPECT_EQ(found.bandwidth.slowest_node, "c");
  machines.at(slow).held = {};
  machines.at(slow).held_known = false;
  found = repair_to_chips(gang);
  EXPECT_EQ(found.bandwidth.slowest_node, "b");
  EXPECT_THAT(found.bandwidth.left_out,
              Contains(HasSubstr("chips of 1 node with running pods: which ones they hold")));
}

// Three chips of one ring and one of the other: only one pod of two chips has legal chips there.
TEST_F(Repairs, TwoRolesOfTwoChipsGoToTwoNodes) {
  add("r1", "a", "ascend-910a-8", ChipSet{0, 1, 2, 4});
  add("r1", "b", "ascend-910a-8", ChipSet{0, 1});
  Gang gang = gang_of({set_of("x", 1, 2), set_of("y", 1, 2)});
  gang.roles = true;
  EXPECT_THAT(nodes(repair_to_chips(gang).plan), UnorderedElementsAre("a", "b"));
}

TEST_F(Repairs, APodOfTwoChipsAndOneOfOneShareANode) {
  add("r1", "a", "ascend-910a-8", ChipSet{0, 1, 2, 4});
  add("r2", "b", "ascend-910a-8", ChipSet{0, 1, 4, 5, 6});
  Gang gang = gang_of({set_of("x", 1, 2), set_of("y", 2, 1)});
  gang.roles = true;
  EXPECT_THAT(nodes(repair_to_chips(gang).plan), UnorderedElementsAre("a"));
}

TEST_F(Repairs, SubgroupsOnARackEachKeepVendorsRules) {
  add("r1", "a", "ascend-910a-8", ChipSet{0, 1, 2, 4});
  add("r2", "b", "ascend-910a-8", ChipSet{0, 1, 4, 5});
  Gang gang = gang_of({set_of("s", 2, 2), set_of("t", 2, 2)});
  gang.chips_per_pod = 2;
  for (PodSet& set : gang.sets) {
    set.required_level = 0;
    set.own_min = 1;
  }
  gang.min_member = 1;
  EXPECT_EQ(repair_to_chips(gang).plan.pods.size(), 3U);
}

TEST_F(Repairs, ANodeWhoseChipsCannotBeDealtIsReplaced) {
  add("r1", "a", "ascend-910a-8", ChipSet{0, 1, 2, 4});
  add("r1", "b", "ascend-910a-8", ChipSet{0, 1, 2, 3, 4, 5});
  Gang gang = gang_of({set_of("x", 1, 2), set_of("y", 1, 2)});
  gang.roles = true;
  int plans = 0;
  // The fabric is not limited, so the planner knows only that four chips are free.
  const ChipPlan found =
      *plan_down_to_chips(fabric, levels, gang, machines, {}, [&](const Fabric& on) {
        ++plans;
        return Result<Plan>(plan_gang(on, levels, gang));
      });
  EXPECT_EQ(plans, 2);
  ASSERT_TRUE(found.plan.fits) << found.plan.reason;
  EXPECT_THAT(places(found.plan), UnorderedElementsAre(Pair(0, "b"), Pair(1, "b")));
  EXPECT_FALSE(found.plan.optimal);
}

TEST_F(Repairs, DealingEndsAfterSoManyTries) {
  const FabricNodeId a = add("r1", "a", "ascend-910a-8", ChipSet{0, 1, 2, 4});
  Gang gang = gang_of({set_of("x", 1, 2), set_of("y", 1, 2)});
  gang.roles = true;
  int plans = 0;
  const ChipPlan none = *plan_down_to_chips(fabric, levels, gang, machines, {}, [&](const Fabric&) {
    ++plans;  // insists
    Plan plan;
    plan.fits = true;
    plan.pods = {{0, a, 0, 0}, {1, a, 1, 1}};
    plan.domains = {1, 1};
    return Result<Plan>(plan);
  });
  EXPECT_EQ(plans, kMaxDeals + 1);
  EXPECT_THAT(none.plan.reason, HasSubstr("cannot be split among its pods"));
}

// Larger than ExactSets: one role after another keeps the rules as well.
TEST_F(Repairs, ManyRolesKeepVendorsRules) {
  for (int i = 0; i < 40; ++i)
    add("r" + std::to_string(i / 10), "n" + std::to_string(i), "ascend-910a-8",
        ChipSet{0, 1, 2, 4, 5, 6});
  std::vector<PodSet> sets;
  sets.reserve(12);
  for (int i = 0; i < 12; ++i) sets.push_back(set_of("s" + std::to_string(i), 5, 1 + i % 2));
  Gang gang = gang_of(std::move(sets));
  gang.roles = true;
  gang.min_member = gang.pods;
  const ChipPlan found = repair_to_chips(gang);
  ASSERT_TRUE(found.plan.fits) << found.plan.reason;
  EXPECT_EQ(found.chips.size(), 60U);
}

}  // namespace
}  // namespace chipweave::solver
