// Running gangs that lose a node or a chip: only the lost pods move, as near to the others as can
// be, and ranks stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "tests/unit/sched/repair_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(GangRepair, AReplacementComesToTheSurvivorsWithItsOldRank) {
  RepairWorld w(8);
  const auto pods = w.running({3});  // n0, n1, n2
  w.fail_node(1);
  const auto again = w.member({3}, 1, 1);
  EXPECT_THAT(w.fit(again), ElementsAre("n3"));
  EXPECT_EQ(w.rank(again), 1);
  w.bind_planned(again);
  EXPECT_EQ(w.cluster.written(again.key).at("chipweave.dev/rank"), "1");
  EXPECT_EQ(w.node_of(pods[0]), "n0");
  EXPECT_EQ(w.node_of(pods[2]), "n2");
  EXPECT_EQ(w.rank(pods[2]), 2);
}

TEST(GangRepair, PodsWithoutAnIndexKeepTheirRanksToo) {
  RepairWorld w(8);
  const RepairWorld::Kind kind{4, 8, false};
  const auto pods = w.running(kind);
  w.fail_node(0);
  // by its name it would come last
  PodRequest again = w.member(kind, 9, 1);
  w.bind_planned(again);
  EXPECT_EQ(w.rank(again), 0);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(w.rank(pods[static_cast<std::size_t>(i)]), i);
  w.expect_sound();
}

TEST(GangRepair, WhereNothingNearIsFreeItGoesFurtherAway) {
  RepairWorld w(8);
  w.running({3});
  w.fill(3);
  w.fail_node(1);
  const auto again = w.member({3}, 1, 1);
  // the first node of the other block
  EXPECT_THAT(w.fit(again), ElementsAre("n4"));
}

TEST(GangRepair, OtherChipsOfTheNodeWillDoButNotTheFailedOne) {
  RepairWorld w(4);
  const auto pods = w.running({2, 4});  // both on n0
  ASSERT_EQ(w.node_of(pods[1]), "n0");
  const int failed = w.chips(pods[1]).front();
  w.set_health("n0", failed, domain::Health::unhealthy);
  ASSERT_TRUE(w.cluster.end(pods[1].key).ok());
  const auto again = w.member({2, 4}, 1, 1);
  EXPECT_THAT(w.fit(again), ElementsAre("n1")) << "n0 has three healthy chips left";
  w.set_health("n0", failed, domain::Health::healthy);
  w.bind_planned(again);
  EXPECT_EQ(w.rank(again), 1);
}

TEST(GangRepair, AFailedNodeThatIsFreeAgainIsNotTakenWhileItFails) {
  RepairWorld w(4, 1);
  w.running({2});
  w.fail_node(0);
  auto again = w.member({2}, 0, 1);
  EXPECT_THAT(w.fit(again), ElementsAre("n2"));
  // nor is another one after its place failed, too
  w.fail_node(2);
  EXPECT_THAT(w.fit(again), ElementsAre("n3"));
  w.bind_planned(again);
  EXPECT_EQ(w.rank(again), 0);
}

// The old pod of a dead node may be shown as ending for long.
TEST(GangRepair, AReplacementComesWhileTheOldPodStillEnds) {
  RepairWorld w(4);
  const auto pods = w.running({2});
  w.scheduler.agent_gone("n1", "boot");
  const_cast<ClusterPod*>(w.cluster.find(pods[1].key))->ending = true;
  PodRequest again = World::request("train-1b", 8);
  again.mark = pods[1].mark;
  again = w.submit(again);
  EXPECT_THAT(w.fit(again), ElementsAre("n2"));
  EXPECT_EQ(w.rank(again), 1);
  ASSERT_TRUE(w.cluster.end(pods[1].key).ok());
  EXPECT_EQ(w.rank(again), 1);
  w.bind_planned(again);
}

TEST(GangRepair, SurvivorsStayWhereOnlyAPlanOfAllWouldFit) {
  RepairWorld w(8);
  const RepairWorld::Kind kind{2, 8, true, 0, kRack};
  const auto pods = w.running(kind);
  w.fail_node(1);
  const auto again = w.member(kind, 1, 1);
  EXPECT_EQ(w.rejections(again).at("n2"), "no room for all pods of gang train");
  EXPECT_THAT(w.why(), HasSubstr("1 of 2 pods are bound; needs room for 1 pods of 8 chips in one"));
  EXPECT_THAT(w.why(), HasSubstr("1 of its pods runs and stays where it is; all of them together "
                                 "would have room elsewhere"));
  EXPECT_EQ(w.node_of(pods[0]), "n0");
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
  // once the node is back, the pod is
  w.add_node("n1", "hgx-h100-8", {}, "boot-2");
  w.bind_planned(again);
  EXPECT_EQ(w.rank(again), 1);
  EXPECT_EQ(w.why(), "");
}

TEST(GangRepair, TheReasonSaysElsewhereOnlyIfThereIsRoom) {
  RepairWorld w(8);
  const RepairWorld::Kind kind{2, 8, true, 0, kRack};
  w.running(kind);
  for (const int node : {3, 5, 7}) w.fill(node);
  w.fail_node(1);
  w.fit(w.member(kind, 1, 1));
  EXPECT_THAT(w.why(), HasSubstr("1 of its pods runs and stays where it is"));
  EXPECT_THAT(w.why(), testing::Not(HasSubstr("elsewhere")));
}

TEST(GangRepair, SeveralLostRanksGoBackBesideTheirNeighbours) {
  RepairWorld w(12, 3);
  // ranks 0 and 1 in rack 0, 2 and 3 in rack 1
  w.fill(0);
  w.fill(3);
  const auto pods = w.running({4});
  ASSERT_EQ(w.node_of(pods[0]), "n1");
  ASSERT_EQ(w.node_of(pods[3]), "n5");
  ASSERT_TRUE(w.cluster.end({"ns", "filler-1"}).ok());
  ASSERT_TRUE(w.cluster.end({"ns", "filler-2"}).ok());
  w.fail_node(2);
  w.fail_node(4);
  const auto third = w.member({4}, 2, 1);
  const auto second = w.member({4}, 1, 1);
  EXPECT_THAT(w.fit(third), ElementsAre("n3"));
  EXPECT_THAT(w.fit(second), ElementsAre("n0"));
  w.bind_planned(second);
  w.bind_planned(third);
}

// Rank 0 moved to a later rack, so the order of the network is not that of the ranks any more.
TEST(GangRepair, NeighboursCountMoreThanTheOrderOfTheNetwork) {
  RepairWorld w(8);
  auto pods = w.running({4});  // n0 … n3
  w.fail_node(0);
  pods[0] = w.member({4}, 0, 1);
  w.bind_planned(pods[0]);
  ASSERT_EQ(w.node_of(pods[0]), "n4");
  w.fail_node(1);
  w.fail_node(3);
  w.add_node("n3", "hgx-h100-8", {}, "boot-2");
  pods[1] = w.member({4}, 1, 1);
  pods[3] = w.member({4}, 3, 1);
  w.bind_planned(pods[1]);
  w.bind_planned(pods[3]);
  EXPECT_EQ(w.node_of(pods[1]), "n5") << "in the rack of rank 0";
  EXPECT_EQ(w.node_of(pods[3]), "n3") << "in the rack of rank 2";
}

TEST(GangRepair, ANewLeaderGoesOnWithTheRanksOfTheSurvivors) {
  RepairWorld w(8);
  const RepairWorld::Kind kind{3};
  const auto pods = w.running(kind);
  w.fail_node(1);
  w.scheduler.step_down();
  const auto again = w.member(kind, 1, 1);
  EXPECT_THAT(w.fit(again), ElementsAre("n3"));
  EXPECT_EQ(w.rank(again), 1);
  EXPECT_EQ(w.rank(pods[2]), 2);
  w.expect_sound();
}

TEST(GangRepair, AnElasticGangIsRepairedBesideItsMembers) {
  RepairWorld w(8);
  const RepairWorld::Kind kind{4, 8, true, 2};
  w.running(kind);  // the first block
  w.fill(4);
  w.fail_node(3);
  const auto again = w.member(kind, 3, 1);
  EXPECT_THAT(w.fit(again), ElementsAre("n5"));
  EXPECT_EQ(w.rank(again), 3);
}

// Against all ways to place the lost pods: fewest blocks, then racks, then nodes, survivors
// included.
class NearestPlaces {
 public:
  NearestPlaces(const RepairWorld& w, std::vector<int> survivors, std::map<int, int> capacity)
      : w_(w), used_(std::move(survivors)), capacity_(std::move(capacity)) {}
  // By level, how many are used; nullopt: they do not fit.
  std::optional<std::vector<int>> of(int pods) {
    search(pods, capacity_.begin());
    return best_;
  }
  static std::vector<int> count(const RepairWorld& w, const std::vector<int>& nodes) {
    std::set<int> blocks;
    std::set<int> racks;
    for (const int node : nodes) {
      blocks.insert(w.block_of(node));
      racks.insert(w.rack_of(node));
    }
    const std::set<int> distinct(nodes.begin(), nodes.end());
    return {static_cast<int>(blocks.size()), static_cast<int>(racks.size()),
            static_cast<int>(distinct.size())};
  }

 private:
  void search(int pods, std::map<int, int>::const_iterator from) {
    if (pods == 0) {
      const auto now = count(w_, used_);
      if (!best_ || now < *best_) best_ = now;
      return;
    }
    for (auto node = from; node != capacity_.end(); ++node) {
      if (node->second == 0) continue;
      --capacity_[node->first];
      used_.push_back(node->first);
      search(pods - 1, node);
      used_.pop_back();
      ++capacity_[node->first];
    }
  }

  const RepairWorld& w_;
  std::vector<int> used_;
  std::map<int, int> capacity_;
  std::optional<std::vector<int>> best_;
};

class GangRepairAgainstSearch : public testing::TestWithParam<unsigned> {};

TEST_P(GangRepairAgainstSearch, IsNearestToTheSurvivors) {
  std::mt19937 random(GetParam());
  const auto pick = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  int repaired = 0;
  int refused = 0;
  for (int round = 0; round < 40; ++round) {
    constexpr int kNodes = 12;
    RepairWorld w(kNodes, 3);
    const RepairWorld::Kind kind{2 + pick(4), pick(2) == 0 ? 8 : 4, pick(2) == 0};
    for (int node = 0; node < kNodes; ++node)
      if (pick(3) == 0) w.fill(node, pick(2) == 0 ? 8 : 4);
    std::vector<PodRequest> pods;
    pods.reserve(static_cast<std::size_t>(kind.size));
    for (int i = 0; i < kind.size; ++i) pods.push_back(w.member(kind, i));
    if (w.fit(pods.front()).empty()) continue;
    for (const auto& one : pods) w.bind_planned(one);
    // others come and go
    for (int filler = 1; filler <= w.fillers; ++filler)
      if (pick(2) == 0) (void)w.cluster.end({"ns", "filler-" + std::to_string(filler)});
    for (int node = 0; node < kNodes; ++node)
      if (pick(4) == 0 &&
          w.scheduler.nodes().node(w.scheduler.nodes().find(w.name(node))).free().size() == 8)
        w.fill(node);
    const std::string failed = w.node_of(pods[static_cast<std::size_t>(pick(kind.size))]);
    std::map<std::string, std::pair<std::string, int>> survivors;
    std::vector<int> lost;
    std::vector<int> seats;
    for (int i = 0; i < kind.size; ++i) {
      const auto& one = pods[static_cast<std::size_t>(i)];
      if (w.node_of(one) == failed) {
        lost.push_back(i);
      } else {
        survivors[one.uid] = {w.node_of(one), w.rank(one)};
        seats.push_back(RepairWorld::number(w.node_of(one)));
      }
    }
    if (survivors.empty()) continue;
    w.fail_node(RepairWorld::number(failed));
    std::map<int, int> capacity;
    for (int node = 0; node < kNodes; ++node) {
      const Node& at = w.scheduler.nodes().node(w.scheduler.nodes().find(w.name(node)));
      if (!at.stale) capacity[node] = at.free().size() / kind.chips;
    }
    const auto best = NearestPlaces(w, seats, capacity).of(static_cast<int>(lost.size()));
    std::vector<PodRequest> again;
    again.reserve(lost.size());
    for (const int index : lost) again.push_back(w.member(kind, index, 1));
    if (!best) {
      EXPECT_THAT(w.fit(again.front()), testing::IsEmpty());
      EXPECT_THAT(w.why(), HasSubstr("where"));
      ++refused;
    } else {
      std::set<int> ranks;
      for (const PodRequest& one : again) {
        w.bind_planned(one);
        EXPECT_NE(w.node_of(one), failed);
        seats.push_back(RepairWorld::number(w.node_of(one)));
        ranks.insert(w.rank(one));
      }
      EXPECT_EQ(NearestPlaces::count(w, seats), *best) << "round " << round;
      EXPECT_EQ(ranks, (std::set<int>{lost.begin(), lost.end()}));
      ++repaired;
    }
    for (const auto& [uid, was] : survivors) {
      EXPECT_EQ(w.scheduler.gang_plans().of(uid).rank(), was.second);
      EXPECT_EQ(w.scheduler.nodes().node(w.scheduler.ledger().find(uid)->node).name, was.first);
    }
    w.expect_sound();
  }
  EXPECT_GT(repaired, 5);
  EXPECT_GT(refused + repaired, 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GangRepairAgainstSearch, testing::Range(1U, 6U));

}  // namespace
}  // namespace chipweave::sched::test
