// Nodes and ranks together, for the communicators of a job: shares that do not split groups, and a
// comparison with all plans of small networks.
#include "common/solver/gang/ranks/communicator_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "common/solver/gang/planner.hpp"
#include "common/solver/ranks/communicators.hpp"
#include "common/solver/ranks/weighted_order.hpp"

namespace chipweave::solver::communicator_plan_test {
namespace {

using domain::Communicators;
using domain::Gang;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kLevels{"block", "rack"};

struct Network {
  Fabric fabric{2};
  std::vector<FabricNodeId> nodes;

  void add(const std::string& block, const std::string& rack, int free) {
    nodes.push_back(*fabric.add("n" + std::to_string(nodes.size()), {block, rack}));
    fabric.set_free(nodes.back(), free);
  }
  Result<CommunicatorPlan> plan(const Gang& gang) const {
    return plan_with_communicators(fabric, kLevels, gang, {}, {},
                                   [](const Fabric& on, const Gang& what) -> Result<domain::Plan> {
                                     return plan_gang(on, kLevels, what);
                                   });
  }
};

Gang gang_of(int pods, Communicators communicators) {
  Gang gang;
  gang.pods = gang.min_member = pods;
  gang.chips_per_pod = 1;
  gang.communicators = std::move(communicators);
  return gang;
}

Communicators groups(std::vector<domain::Communicator> list) {
  Communicators out;
  out.list = std::move(list);
  return out;
}

std::map<std::string, int> by_rack(const Network& network, const domain::Plan& plan) {
  std::map<std::string, int> out;
  for (const domain::PlannedPod& pod : plan.pods)
    ++out[path_text(network.fabric, network.fabric.domain_of(pod.node, 1))];
  return out;
}

std::vector<int> ranks_of(const domain::Plan& plan) {
  std::vector<int> out;
  for (const domain::PlannedPod& pod : plan.pods) out.push_back(pod.rank);
  return out;
}

TEST(CommunicatorPlan, SharesDoNotSplitGroups) {
  Network network;
  network.add("b", "r1", 5);
  network.add("b", "r2", 5);
  Gang gang = gang_of(8, groups({{"tensor", 4, 1, 64}, {"data", 2, 4, 4}}));
  const auto planned = network.plan(gang);
  ASSERT_TRUE(planned && planned->ranks);
  EXPECT_EQ(by_rack(network, planned->chips.plan),
            (std::map<std::string, int>{{"b/r1", 4}, {"b/r2", 4}}));
  EXPECT_EQ(planned->ranks->crossings[0], (std::vector<std::int64_t>{0, 0}));
  EXPECT_TRUE(planned->chips.plan.optimal);
  gang.communicators.reset();
  EXPECT_EQ(by_rack(network, network.plan(gang)->chips.plan),
            (std::map<std::string, int>{{"b/r1", 5}, {"b/r2", 3}}));
}

TEST(CommunicatorPlan, FewestDomainsStayMoreImportantThanGroups) {
  Network network;
  network.add("b", "r1", 5);
  network.add("b", "r2", 3);
  network.add("b", "r3", 2);
  network.add("b", "r4", 2);
  const auto planned = network.plan(gang_of(8, groups({{"tensor", 4, 1, 64}})));
  ASSERT_TRUE(planned && planned->ranks);
  EXPECT_EQ(by_rack(network, planned->chips.plan),
            (std::map<std::string, int>{{"b/r1", 5}, {"b/r2", 3}}));
}

// Racks of three nodes with one pod each, groups of stride 3: the members of a group are not
// neighbours depth-first.
TEST(CommunicatorPlan, RanksFollowStridesAndPodsKeepTheirNumbers) {
  Network network;
  for (const char* rack : {"r1", "r2", "r3"})
    for (int i = 0; i < 2; ++i) network.add("b", rack, 1);
  const auto planned = network.plan(gang_of(6, groups({{"tensor", 2, 3}})));
  ASSERT_TRUE(planned && planned->ranks);
  const domain::Plan& plan = planned->chips.plan;
  EXPECT_THAT(ranks_of(plan), ElementsAre(0, 1, 2, 3, 4, 5));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plan.pods[i].pod, static_cast<int>(i));
    EXPECT_EQ(network.fabric.domain_of(plan.pods[i].node, 1),
              network.fabric.domain_of(plan.pods[i + 3].node, 1));
  }
  EXPECT_EQ(planned->ranks->levels, (std::vector<std::string>{"block", "rack", "node"}));
  EXPECT_TRUE(planned->ranks->optimal);
  EXPECT_GT(planned->ranks->depth_first_weighted, planned->ranks->weighted);
}

TEST(CommunicatorPlan, ARepairedPodTakesTheRankThatItsGroupMisses) {
  Network network;
  for (const char* rack : {"r1", "r2"})
    for (int i = 0; i < 4; ++i) network.add("b", rack, i == 2 ? 1 : 0);
  // Ranks 0 and 3 run in r1 and r2; the pods of ranks 1 and 2 lost their nodes n0 and n4.
  Gang gang = gang_of(4, groups({{"pairs", 2, 2}}));
  gang.min_member = 4;
  gang.existing[network.nodes[0]] = {1, {1}};
  gang.existing[network.nodes[4]] = {1, {2}};
  gang.existing[network.nodes[1]] = {1, {0}};
  gang.existing[network.nodes[5]] = {1, {3}};
  gang.failed = {network.nodes[0], network.nodes[4]};
  const auto planned = network.plan(gang);
  ASSERT_TRUE(planned && planned->ranks);
  ASSERT_EQ(planned->chips.plan.pods.size(), 2U);
  // Rank 2 goes with rank 0 into r1, rank 1 with rank 3 into r2.
  for (const domain::PlannedPod& pod : planned->chips.plan.pods) {
    EXPECT_EQ(pod.pod, pod.rank);
    EXPECT_EQ(network.fabric.name(network.fabric.domain_of(pod.node, 1)),
              pod.rank == 2 ? "r1" : "r2");
  }
  EXPECT_EQ(planned->ranks->crossings[0], (std::vector<std::int64_t>{0, 0, 4}));
}

TEST(CommunicatorPlan, RolesKeepTheirNodesAndExchangeRanks) {
  Network network;
  network.add("b", "r1", 2);
  network.add("b", "r2", 2);
  Gang gang = gang_of(4, groups({{"pairs", 2, 2}}));
  gang.roles = true;
  for (const char* name : {"a", "b"}) {
    gang.sets.emplace_back();
    gang.sets.back().name = name;
    gang.sets.back().pods = 2;
    gang.sets.back().chips_per_pod = 1;
  }
  const auto planned = network.plan(gang);
  ASSERT_TRUE(planned && planned->ranks);
  EXPECT_THAT(ranks_of(planned->chips.plan), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(planned->ranks->weighted, 0);
}

TEST(CommunicatorPlan, CommunicatorsThatDoNotTileTheRanksAreAnError) {
  Network network;
  network.add("b", "r1", 8);
  const auto wrong = network.plan(gang_of(6, groups({{"tensor", 4, 1}})));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("gang.communicators: groups[0].size: size x stride "
                                              "must divide the 6 ranks"));
  // Fewer pods than asked for are the network's fault, not the request's.
  Gang gang = gang_of(12, groups({{"tensor", 6, 1}}));
  gang.min_member = 4;
  const auto some = network.plan(gang);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->chips.plan.pods.size(), 8U);
  EXPECT_FALSE(some->ranks);
  EXPECT_THAT(some->ranks_refused, HasSubstr("must divide the 8 ranks"));
}

// All ways to put so many pods on the nodes.
void each_share(const Network& network, int pods,
                const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<int> shares(network.nodes.size(), 0);
  const std::function<void(std::size_t, int)> from = [&](std::size_t at, int left) {
    if (at == shares.size()) {
      if (left == 0) visit(shares);
      return;
    }
    for (int n = 0; n <= std::min(left, network.fabric.node(network.nodes[at]).free); ++n) {
      shares[at] = n;
      from(at + 1, left - n);
    }
    shares[at] = 0;
  };
  from(0, pods);
}

std::vector<RankPath> paths_of(const Network& network, const std::vector<int>& shares) {
  std::vector<RankPath> out;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const FabricNodeId node = network.nodes[i];
    const RankPath path{network.fabric.name(network.fabric.domain_of(node, 0)),
                        network.fabric.name(network.fabric.domain_of(node, 1)),
                        network.fabric.node(node).name};
    out.insert(out.end(), static_cast<std::size_t>(shares[i]), path);
  }
  return out;
}

std::vector<int> domains_of(const std::vector<RankPath>& paths) {
  std::set<RankPath> blocks;
  std::set<RankPath> racks;
  for (const RankPath& path : paths) {
    blocks.insert({path[0]});
    racks.insert({path[0], path[1]});
  }
  return {static_cast<int>(blocks.size()), static_cast<int>(racks.size())};
}

TEST(CommunicatorPlan, IsNeverWorseThanAPlanWithoutGroupsAndMostlyTheBest) {
  std::mt19937 random(3);
  const auto draw = [&random](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int cases = 0;
  int best = 0;
  int gained = 0;
  while (cases < 150) {
    Network network;
    for (int block = 0; block < 2; ++block)
      for (int rack = 0; rack < 2; ++rack)
        network.add(std::to_string(block), std::to_string(rack), draw(0, 5));
    Communicators communicators =
        groups({{"inner", draw(0, 1) == 0 ? 2 : 4, 1, draw(1, 64)}, {"outer", 2, 4, draw(0, 8)}});
    communicators.list[0].pattern = static_cast<domain::Pattern>(draw(0, 2));
    Gang gang = gang_of(8, std::move(communicators));
    Gang without = gang;
    without.communicators.reset();
    const auto base = network.plan(without);
    ASSERT_TRUE(base);
    if (!base->chips.plan.fits) continue;
    ++cases;
    const auto traffic = pod_traffic(*gang.communicators, 8);
    ASSERT_TRUE(traffic);
    const auto found = network.plan(gang);
    ASSERT_TRUE(found && found->ranks);
    EXPECT_EQ(found->chips.plan.domains, base->chips.plan.domains);
    domain::Plan ranked = base->chips.plan;
    const auto of_base = order_ranks(network.fabric, kLevels, gang, *gang.communicators, ranked);
    ASSERT_TRUE(of_base);
    EXPECT_LE(found->ranks->weighted, of_base->weighted);
    if (found->ranks->weighted < of_base->weighted) ++gained;

    std::optional<std::int64_t> least;
    each_share(network, 8, [&](const std::vector<int>& shares) {
      const std::vector<RankPath> paths = paths_of(network, shares);
      if (domains_of(paths) != found->chips.plan.domains) return;
      const auto order = weighted_order(found->ranks->levels.size(), paths, *traffic);
      const std::int64_t cost = weighted_cost(
          *traffic,
          communicator_crossings(found->ranks->levels.size(), paths, *traffic, order.order));
      least = std::min(cost, least.value_or(cost));
    });
    ASSERT_TRUE(least);
    EXPECT_GE(found->ranks->weighted, *least);
    if (found->ranks->weighted == *least) ++best;
  }
  EXPECT_GE(best, cases * 9 / 10) << gained << " of " << cases << " gained";
  EXPECT_GT(gained, 10);
}

}  // namespace
}  // namespace chipweave::solver::communicator_plan_test
