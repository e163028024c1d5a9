// Users' requests to the planner, one named case each: even shares, roles, subgroups, repair,
// chosen nodes, spare nodes, and the reasons if a gang does not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/solver/gang/planner.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::GangPolicy;
using domain::Plan;
using domain::PodSet;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// A node at "b1/r1/x1" with so many free chips; the last element is its name.
class Network {
 public:
  Network(std::vector<std::string> levels, const std::vector<std::pair<std::string, int>>& nodes)
      : levels_(std::move(levels)), fabric_(levels_.size()) {
    for (const auto& [text, free] : nodes) {
      std::vector<std::string> path;
      for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find('/', from), text.size());
        path.push_back(text.substr(from, to - from));
        from = to + 1;
      }
      const auto id = fabric_.add(path.back(), path);
      if (!id) throw std::runtime_error(id.error().text());
      fabric_.set_free(*id, free);
    }
  }
  FabricNodeId at(const std::string& name) const { return fabric_.find(name); }
  Plan plan(const Gang& gang) const { return plan_gang(fabric_, levels_, gang); }
  // Pods of each node.
  std::map<std::string, int> shares(const Plan& plan) const {
    std::map<std::string, int> out;
    for (const domain::PlannedPod& pod : plan.pods) ++out[fabric_.node(pod.node).name];
    return out;
  }
  std::map<std::string, int> shares(const Gang& gang) const { return shares(plan(gang)); }

 private:
  std::vector<std::string> levels_;
  Fabric fabric_;
};

Gang gang_of(int pods, int chips) {
  Gang gang;
  gang.pods = pods;
  gang.min_member = pods;
  gang.chips_per_pod = chips;
  return gang;
}

Gang gang_of(std::vector<PodSet> sets) {
  Gang gang;
  for (PodSet& set : sets) {
    gang.pods += set.pods;
    set.own_min = set.pods;
  }
  gang.min_member = gang.pods;
  gang.sets = std::move(sets);
  return gang;
}

PodSet set_of(const std::string& name, int pods, int chips) {
  PodSet set;
  set.name = name;
  set.pods = pods;
  set.chips_per_pod = chips;
  return set;
}

// Eight racks of one node in a block hold the job as tightly as can be, one rack of nine nodes
// holds it in fewer racks: a planner that considers one level only takes the block.
TEST(PlannerCases, LooksAtAllLevelsAtOnce) {
  std::vector<std::pair<std::string, int>> nodes;
  nodes.reserve(17);
  for (int i = 0; i < 8; ++i)
    nodes.emplace_back("b1/r" + std::to_string(i) + "/x" + std::to_string(i), 8);
  for (int i = 0; i < 9; ++i) nodes.emplace_back("b2/r0/y" + std::to_string(i), 8);
  const Network network({"block", "rack", "hostname"}, nodes);
  EXPECT_THAT(network.plan(gang_of(8, 8)).domains, ElementsAre(1, 1, 8));
}

TEST(PlannerCases, ManyLevelsAndManyPodsStayExact) {
  std::vector<std::pair<std::string, int>> nodes;
  nodes.reserve(200);
  for (int i = 0; i < 200; ++i)
    nodes.emplace_back(
        "b" + std::to_string(i / 50) + "/r" + std::to_string(i / 10) + "/x" + std::to_string(i),
        i % 7 + 1);
  const Network network({"block", "rack", "hostname"}, nodes);
  const Plan plan = network.plan(gang_of(300, 1));
  ASSERT_TRUE(plan.fits) << plan.reason;
  EXPECT_TRUE(plan.optimal);
  // Four chips a node on average: 200 a block.
  EXPECT_EQ(plan.domains.at(0), 2);
}

TEST(PlannerCases, EvenSharesOverTheFewestRacks) {
  const Network network({"rack", "hostname"},
                        {{"r1/a", 8}, {"r1/b", 8}, {"r2/c", 8}, {"r2/d", 8}, {"r3/e", 4}});
  Gang gang = gang_of(20, 1);
  gang.policy = GangPolicy::even;
  gang.preferred_level = 0;
  const Plan plan = network.plan(gang);
  ASSERT_TRUE(plan.fits) << plan.reason;
  const auto shares = network.shares(plan);
  EXPECT_EQ(shares.at("a") + shares.at("b"), 10);
  EXPECT_EQ(shares.at("c") + shares.at("d"), 10);
}

TEST(PlannerCases, EvenInsideTheOneRackThatIsEnough) {
  const Network network({"rack", "hostname"}, {{"r1/a", 8}, {"r1/b", 8}, {"r1/c", 1}, {"r2/d", 6}});
  Gang gang = gang_of(11, 1);
  gang.policy = GangPolicy::even;
  gang.preferred_level = 0;
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("a", 5), Pair("b", 5), Pair("c", 1)));
}

TEST(PlannerCases, EvenByWholeSlices) {
  const Network network({"rack", "hostname"}, {{"r1/a", 16}, {"r2/b", 16}, {"r3/c", 8}});
  Gang gang = gang_of(24, 1);
  gang.policy = GangPolicy::even;
  gang.preferred_level = 0;
  gang.slices = {{0, 4}};
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("a", 12), Pair("b", 12)));
}

// A slice that must be completed in a domain counts even if the domain gets no other pods.
TEST(PlannerCases, SlicesOfRunningPodsAreMadeWholeInEveryBlock) {
  const Network network({"block", "rack", "hostname"},
                        {{"b3/r1/x0", 4}, {"b1/r1/x1", 3}, {"b2/r1/x2", 1}});
  Gang gang = gang_of(6, 1);
  gang.slices = {{0, 2}};
  gang.existing[network.at("x1")].pods = 3;
  gang.existing[network.at("x2")].pods = 3;
  EXPECT_THAT(network.shares(gang),
              UnorderedElementsAre(Pair("x0", 4), Pair("x1", 1), Pair("x2", 1)));
}

TEST(PlannerCases, EvenInsideTheBlockThatNeedsFewestRacks) {
  const Network network({"block", "rack", "hostname"},
                        {{"b1/r1/a", 1}, {"b1/r2/b", 4}, {"b2/r1/c", 4}, {"b2/r1/d", 1}});
  Gang gang = gang_of(5, 1);
  gang.required_level = 0;
  gang.policy = GangPolicy::even;
  gang.preferred_level = 1;
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("c", 4), Pair("d", 1)));
}

// Two elastic subgroups of two on two racks: each in one rack, not one pod of each in both.
TEST(PlannerCases, SubgroupsStayWhole) {
  const Network network({"rack", "hostname"}, {{"r1/a", 2}, {"r2/b", 2}});
  Gang gang = gang_of({set_of("s0", 2, 1), set_of("s1", 2, 1)});
  for (PodSet& set : gang.sets) {
    set.own_min = 1;
    set.preferred_level = 0;
  }
  gang.min_member = 2;
  const Plan plan = network.plan(gang);
  ASSERT_TRUE(plan.fits) << plan.reason;
  std::map<int, std::map<FabricNodeId, int>> nodes;
  for (const domain::PlannedPod& pod : plan.pods) ++nodes[pod.set][pod.node];
  EXPECT_EQ(nodes.at(0).size(), 1U);
  EXPECT_EQ(nodes.at(1).size(), 1U);
}

TEST(PlannerCases, ASubgroupThatHasNoRoomDoesNotStart) {
  const Network network({"rack", "hostname"}, {{"r1/a", 4}, {"r2/b", 3}});
  Gang gang = gang_of({set_of("s0", 4, 1), set_of("s1", 4, 1)});
  for (PodSet& set : gang.sets) {
    set.required_level = 0;
    set.kind = "replica";
  }
  gang.min_member = 4;
  gang.min_sets["replica"] = 1;
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("a", 4)));
  gang.min_sets["replica"] = 2;
  const Plan plan = network.plan(gang);
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(plan.reason, HasSubstr("set replica"));
}

TEST(PlannerCases, ALeaderLiesBesideItsWorkers) {
  const Network network({"rack", "hostname"}, {{"r1/a", 8}, {"r2/b", 8}, {"r2/c", 1}});
  Gang gang = gang_of({set_of("leader", 1, 1), set_of("workers", 2, 4)});
  gang.roles = true;
  for (PodSet& set : gang.sets) {
    set.own_min = 0;
    set.required_level = 0;
    set.together = "group";
  }
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("b", 2), Pair("c", 1)));
}

TEST(PlannerCases, NestedSubgroupsKeepBothLevels) {
  const Network network({"block", "rack"},
                        {{"b1/r1", 4}, {"b1/r2", 3}, {"b2/r3", 4}, {"b2/r4", 4}});
  Gang gang = gang_of({set_of("all", 0, 1), set_of("x", 4, 1), set_of("y", 4, 1)});
  gang.sets[0].required_level = 0;
  for (std::size_t i : {1U, 2U}) {
    gang.sets[i].parent = 0;
    gang.sets[i].required_level = 1;
  }
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("r3", 4), Pair("r4", 4)));
}

TEST(PlannerCases, ARepairStaysInTheSliceThatLostPodsAndKeepsRanks) {
  const Network network({"rack", "hostname"}, {{"r1/a", 0}, {"r1/b", 0}, {"r1/c", 4}, {"r2/d", 8}});
  Gang gang = gang_of(4, 2);
  gang.slices = {{0, 4}};
  gang.existing[network.at("a")] = {2, {3, 0}};
  gang.existing[network.at("b")] = {2, {1, 2}};
  gang.failed = std::vector<FabricNodeId>{network.at("a")};
  const Plan plan = network.plan(gang);
  ASSERT_TRUE(plan.fits) << plan.reason;
  EXPECT_THAT(network.shares(plan), UnorderedElementsAre(Pair("c", 2)));
  ASSERT_EQ(plan.pods.size(), 2U);
  EXPECT_EQ(plan.pods[0].rank, 0);
  EXPECT_EQ(plan.pods[1].rank, 3);
  EXPECT_THAT(plan.domains, ElementsAre(1, 2));

  gang.chips_per_pod = 3;
  const Plan none = network.plan(gang);
  EXPECT_FALSE(none.fits);
  EXPECT_THAT(none.reason, HasSubstr("rack r1, which lost them"));
}

// Slices of whole hosts: of the failed one nothing is left, so its switch gets the slice back.
TEST(PlannerCases, ASliceThatLostItsHostStaysOnItsSwitch) {
  std::vector<std::pair<std::string, int>> nodes;
  for (const char* place :
       {"r1/s1/a", "r1/s1/b", "r1/s2/c", "r1/s2/d", "r2/s3/e", "r2/s3/f", "r2/s4/g", "r2/s4/h"}) {
    nodes.emplace_back(place, 0);
  }
  nodes[1].second = 8;  // b
  nodes[6].second = 8;  // g
  const Network network({"rack", "switch", "hostname"}, nodes);
  Gang gang = gang_of(16, 1);
  gang.slices = {{0, 8}, {1, 4}, {2, 2}};
  for (const char* host : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    gang.existing[network.at(host)].pods = 2;
  }
  gang.failed = std::vector<FabricNodeId>{network.at("a")};
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("b", 2)));
  // Both hosts of the switch: the rack gets the two slices back, as whole ones.
  gang.failed = std::vector<FabricNodeId>{network.at("e"), network.at("f")};
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("g", 4)));
  // Where the switch has no room, its slice cannot be made whole.
  gang.failed = std::vector<FabricNodeId>{network.at("c")};
  const Plan none = network.plan(gang);
  EXPECT_FALSE(none.fits);
  EXPECT_THAT(none.reason, HasSubstr("switch r1/s2, which lost them"));
}

// Two equal blocks, one of which already runs pods of the gang.
TEST(PlannerCases, ARepairGoesWhereTheGangRuns) {
  const Network network({"block", "rack", "hostname"},
                        {{"b1/r1/x0", 3}, {"b1/r1/h4", 0}, {"b3/r1/x3", 0}, {"b3/r1/x5", 3}});
  Gang gang = gang_of(3, 1);
  gang.existing[network.at("x3")].pods = 2;
  gang.existing[network.at("h4")].pods = 1;
  gang.failed = std::vector<FabricNodeId>{network.at("h4")};
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("x5", 1)));
}

TEST(PlannerCases, NewPodsTakeTheRanksThatAreFree) {
  const Network network({"rack", "hostname"}, {{"r1/a", 4}});
  Gang gang = gang_of(3, 1);
  gang.existing[network.at("a")] = {3, {0, 2, 4}};
  const Plan plan = network.plan(gang);
  std::vector<int> ranks;
  for (const domain::PlannedPod& pod : plan.pods) ranks.push_back(pod.rank);
  EXPECT_THAT(ranks, ElementsAre(1, 3, 5));
}

TEST(PlannerCases, ChosenNodesAreKept) {
  const Network network({"rack", "hostname"}, {{"r1/a", 2}, {"r1/b", 2}, {"r2/c", 2}});
  Gang gang = gang_of(2, 1);
  gang.allowed[1] = {network.at("c")};
  const Plan plan = network.plan(gang);
  EXPECT_THAT(network.shares(plan), UnorderedElementsAre(Pair("c", 2)));
  gang.allowed[0] = {network.at("a"), network.at("b")};
  EXPECT_THAT(network.shares(gang), UnorderedElementsAre(Pair("a", 1), Pair("c", 1)));
}

TEST(PlannerCases, PodsOfSeveralSizesShareNodes) {
  const Network network({"hostname"}, {{"a", 8}, {"b", 8}});
  Gang gang = gang_of(4, 0);
  gang.pod_chips = {5, 6, 2, 3};
  EXPECT_THAT(network.plan(gang).domains, ElementsAre(2));
}

TEST(PlannerCases, SpareNodesAreKeptWhereThatIsPossible) {
  const Network network({"super-pod", "hostname"}, {{"s1/a", 16},
                                                    {"s1/b", 16},
                                                    {"s1/c", 16},
                                                    {"s2/d", 16},
                                                    {"s2/e", 16},
                                                    {"s2/f", 16},
                                                    {"s2/g", 16}});
  Gang gang = gang_of(3, 16);
  EXPECT_THAT(network.plan(gang).domains, ElementsAre(1, 3));
  EXPECT_EQ(network.shares(gang).count("a"), 1U) << "the tightest";
  gang.spare = domain::Spare{0, 1};
  EXPECT_EQ(network.shares(gang).count("a"), 0U) << "nothing would be left of s1";
  gang = gang_of(7, 16);
  gang.spare = domain::Spare{0, 1};
  EXPECT_THAT(network.plan(gang).domains, ElementsAre(2, 7)) << "soft: it fits without";
}

TEST(PlannerCases, SaysWhatIsMissing) {
  const Network network({"spine", "hostname"}, {{"s1/a", 8}, {"s2/b", 8}, {"s2/c", 8}});
  Gang gang = gang_of(3, 8);
  gang.required_level = 0;
  const Plan plan = network.plan(gang);
  EXPECT_FALSE(plan.fits);
  EXPECT_EQ(plan.reason,
            "needs room for 3 pods of 8 chips in one spine; the best, s2, has room for 2");
  gang = gang_of(5, 1);
  gang.slices = {{0, 2}};
  EXPECT_THAT(network.plan(gang).reason, HasSubstr("not a multiple of 2"));
}

}  // namespace
}  // namespace chipweave::solver
