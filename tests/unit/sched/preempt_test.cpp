// The chosen victims, against all sets of pods of the node.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

class Preempts : public ::testing::Test {
 protected:
  void SetUp() override { world_.add_node("n1", "hgx-v100-8"); }
  // Bound to n1; its uid.
  std::string runs(const std::string& name, int chips, int priority,
                   const OtherResources& others = {}, const std::string& node = "n1") {
    ClusterPod pod;
    pod.request = World::request(name, chips);
    pod.priority = priority;
    pod.others = others;
    const PodRequest a = world_.cluster.add(pod, "{}").value()->request;
    EXPECT_TRUE(world_.bind(a, node).ok());
    return a.uid;
  }
  // Without a priority: only of the proposed ones.
  std::vector<std::string> victims(int chips, const std::vector<std::string>& proposed,
                                   std::optional<int> priority = {},
                                   const std::string& node = "n1") {
    const std::vector<ProposedVictims> nodes{{node, proposed}};
    return world_.scheduler.preemption()
        .choose_victims(World::request("wanted", chips), priority, nodes)
        .at(0);
  }
  World world_;
};

using Names = std::vector<std::string>;

TEST_F(Preempts, TakesTheFewest) {
  const std::string one = runs("one", 1, 0);
  const std::string two = runs("two", 1, 0);
  const std::string six = runs("six", 6, 9);
  EXPECT_EQ(victims(2, {one, two, six}), Names{six}) << "one pod is fewer than two";
  EXPECT_EQ(victims(8, {one, two, six}).size(), 3U);
  EXPECT_EQ(victims(8, {one, six}), Names{}) << "they are not enough";
}

TEST_F(Preempts, ThenThoseOfLeastPriority) {
  const std::string high = runs("high", 4, 100);
  const std::string low = runs("low", 4, -5);
  EXPECT_EQ(victims(4, {high, low}), Names{low});
  EXPECT_EQ(victims(2, {high, low}), Names{low});
  EXPECT_EQ(victims(4, {high}), Names{high});
}

TEST_F(Preempts, WhoHoldsNoChipsGoesForOtherReasons) {
  const std::string low = runs("low", 8, 0);
  const PodRequest cpu = world_.submit(World::request("cpu", 0));
  ASSERT_TRUE(world_.bind(cpu, "n1").ok());
  EXPECT_EQ(victims(4, {cpu.uid, low}), (Names{cpu.uid, low}));
  EXPECT_EQ(victims(4, {cpu.uid}), Names{});
  EXPECT_EQ(victims(0, {cpu.uid}), Names{cpu.uid});
}

TEST_F(Preempts, RoomThatIsThereIsNotMadeByVictims) {
  const std::string low = runs("low", 2, 0);
  EXPECT_EQ(victims(4, {low}), Names{low}) << "kube-scheduler knows why";
}

TEST_F(Preempts, NodesAndPodsThatAreNotKnown) {
  runs("low", 8, 0);
  EXPECT_EQ(victims(4, {"uid-low"}, {}, "nowhere"), Names{});
  EXPECT_EQ(victims(4, {"nobody"}), Names{});
}

TEST_F(Preempts, AnyPodOfLowerPriorityMayBeAVictim) {
  const std::string low = runs("low", 2, 1);
  const std::string middle = runs("middle", 4, 5);
  const std::string high = runs("high", 2, 10);
  EXPECT_EQ(victims(4, {low}), Names{}) << "of the proposed one only";
  EXPECT_EQ(victims(4, {low}, 10), Names{middle}) << "one pod is fewer than two";
  EXPECT_EQ(victims(4, {low}, 5), Names{}) << "pods of the same priority stay";
  EXPECT_EQ(victims(6, {low}, 10), (Names{middle, low}));
  EXPECT_EQ(victims(8, {low}, 10), Names{});
  EXPECT_EQ(victims(8, {low}, 11).size(), 3U);
  EXPECT_EQ(victims(2, {}, 10), Names{low}) << "also if none is proposed";
}

// kube-scheduler compares the nodes by the first pod of each list, which it takes for the most
// important one.
TEST_F(Preempts, TheMostImportantIsFirst) {
  world_.add_node("n2", "hgx-v100-8");
  const std::string low1 = runs("low1", 2, 1);
  const std::string high1 = runs("high1", 6, 9);
  const std::string middle2 = runs("middle2", 4, 5, {}, "n2");
  const std::string low2 = runs("low2", 4, 2, {}, "n2");
  EXPECT_EQ(victims(8, {}, 10, "n1"), (Names{high1, low1}));
  EXPECT_EQ(victims(8, {}, 10, "n2"), (Names{middle2, low2}));
  EXPECT_EQ(victims(0, {low1, high1}, 10, "n1"), (Names{high1, low1})) << "without chips";
}

// The priority of a pod without chips is not known, but kube-scheduler's order is.
TEST_F(Preempts, ProposedPodsWithoutChipsKeepTheirPlace) {
  const std::string low = runs("low", 3, 1);
  const std::string middle = runs("middle", 2, 5);
  const std::string high = runs("high", 3, 8);
  EXPECT_EQ(victims(8, {high, "cpu", middle, low}, 10), (Names{high, "cpu", middle, low}));
  EXPECT_EQ(victims(8, {"cpu", middle, low}, 10), (Names{high, "cpu", middle, low}));
  EXPECT_EQ(victims(8, {middle, low, "cpu"}, 10), (Names{high, middle, low, "cpu"}));
}

// They were proposed for reasons that chips do not show.
TEST_F(Preempts, ProposedPodsThatFreeNoChipStay) {
  const std::string broken = runs("broken", 2, 1);
  const std::string low = runs("low", 6, 0);
  for (const int chip : world_.chips(World::request("broken", 2)))
    world_.set_health("n1", chip, domain::Health::unhealthy);
  EXPECT_EQ(victims(4, {broken}, 10), (Names{broken, low}));
}

TEST_F(Preempts, WhatIsProposedForOtherResourcesIsFreedAsWell) {
  const OtherResources large{8000, 64 << 20, 0, {}};
  const OtherResources small{1000, 1 << 20, 0, {}};
  const std::string one = runs("one", 2, 0, large);
  const std::string two = runs("two", 2, 0, small);
  const std::string four = runs("four", 4, 0, small);
  EXPECT_EQ(victims(4, {one, two}, 10), (Names{one, two})) << "these are enough";
  EXPECT_EQ(victims(4, {one}, 10).size(), 2U) << "and another that makes room";
  EXPECT_EQ(victims(4, {two}, 10), Names{four}) << "one pod that frees as much";
  const std::string thin = runs("thin", 0, 0);
  EXPECT_EQ(victims(4, {two, thin}, 10).size(), 2U);
}

TEST_F(Preempts, SoAreNamedResources) {
  OtherResources rdma;
  rdma.named["rdma/hca"] = 1;
  const std::string one = runs("one", 2, 0, rdma);
  const std::string four = runs("four", 4, 0);
  runs("two", 2, 5);
  EXPECT_EQ(victims(4, {one}, 5), (Names{one, four}));
}

TEST_F(Preempts, OfEqualOnesTheProposedIsPreferred) {
  runs("one", 4, 0);
  const std::string two = runs("two", 4, 0);
  EXPECT_EQ(victims(4, {two}, 10), Names{two});
}

TEST_F(Preempts, AJobCountsWithAllItsPods) {
  const auto member = [&](const std::string& name, int chips, int priority) {
    PodRequest a = World::request(name, chips);
    a.labels["volcano.sh/job-name"] = "gang";
    a = world_.submit(a, priority);
    return a;
  };
  const PodRequest gang = member("gang-0", 4, 0);
  ASSERT_TRUE(world_.bind(gang, "n1").ok());
  const std::string one = runs("one", 2, 5);
  const std::string two = runs("two", 2, 5);
  EXPECT_EQ(victims(4, {}, 10), Names{gang.uid}) << "it is the only pod of its job";
  member("gang-1", 1, 0);
  member("gang-2", 1, 0);
  EXPECT_EQ(victims(4, {}, 10), (Names{one, two})) << "two pods are fewer than three";
  EXPECT_EQ(victims(6, {}, 10).size(), 2U) << "the job, and one more";
}

TEST_F(Preempts, PodsThatOnlyHaveAReservationAreNoVictims) {
  const std::string low = runs("low", 4, 0);
  EXPECT_EQ(victims(6, {}, 10), Names{low}) << "four chips are free";
  // its binding is not stored yet: kube-scheduler may not know it on the node
  const PodRequest waits = world_.submit(World::request("waits", 4), 0);
  ASSERT_EQ(world_.fit(waits), std::set<std::string>{"n1"});
  EXPECT_EQ(victims(6, {}, 10), Names{});
}

// The rules of an Ascend 910A: four free chips are usable only if they are one ring.
TEST(PreemptsByRule, WhatIsFreedMustBeUsable) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    World world;
    world.add_node("n1", "ascend-910a-8");
    std::vector<std::string> running;
    std::map<std::string, int> priority;
    for (int i = 0; i < 8; ++i) {
      const std::string name = "p" + std::to_string(i);
      const int chips = 1 + static_cast<int>(random() % 2);
      const int important = static_cast<int>(random() % 3);
      const PodRequest a =
          world.submit(World::request(name, chips, "huawei.com/Ascend910"), important);
      if (!world.bind(a, "n1").ok()) continue;
      running.push_back(a.uid);
      priority[a.uid] = important;
    }
    const int size = 1 << (random() % 4);
    const PodRequest wanted = World::request("wanted", size, "huawei.com/Ascend910");
    const Node& node = world.scheduler.nodes().node(0);
    const auto fits = [&](const std::vector<std::string>& gone) {
      ChipSet free = node.free();
      for (const auto& uid : gone) free |= world.scheduler.ledger().find(uid)->chips;
      return node.wiring->fits({free, {}, {}, size, false});
    };
    if (fits({})) continue;
    using Cost = std::tuple<std::size_t, int, int>;
    std::optional<Cost> least;
    const auto cost_of = [&](const std::vector<std::string>& gone) {
      Cost cost{gone.size(), -1, 0};
      for (const auto& uid : gone) {
        std::get<1>(cost) = std::max(std::get<1>(cost), priority[uid]);
        std::get<2>(cost) += priority[uid];
      }
      return cost;
    };
    for (unsigned mask = 1; mask < (1U << running.size()); ++mask) {
      std::vector<std::string> gone;
      for (std::size_t i = 0; i < running.size(); ++i) {
        if ((mask >> i & 1U) != 0) gone.push_back(running[i]);
      }
      if (fits(gone) && (!least || cost_of(gone) < *least)) least = cost_of(gone);
    }
    const std::vector<ProposedVictims> nodes{{"n1", running}};
    const auto chosen = world.scheduler.preemption().choose_victims(wanted, {}, nodes).at(0);
    ASSERT_EQ(chosen.empty(), !least.has_value()) << "round " << round;
    if (!least) continue;
    EXPECT_TRUE(fits(chosen));
    EXPECT_EQ(cost_of(chosen), *least) << "round " << round;
  }
}

// Small nodes of all kinds, against every set of their pods.
TEST(VictimSearches, FindTheCheapestOfAllSets) {
  std::mt19937 random(11);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 400; ++round) {
    std::vector<Victim> pods;
    int next = 0;
    const int count = 1 + pick(8);
    for (int i = 0; i < count; ++i) {
      Victim v{"p" + std::to_string(i), {}, pick(4) - 2, {}, 1};
      for (int chips = 1 + pick(3); chips > 0; --chips) v.chips.insert(next++);
      if (pick(3) == 0) {
        v.job = "j" + std::to_string(pick(2));
        v.job_pods = v.job == "j0" ? 2 : 5;
      }
      pods.push_back(std::move(v));
    }
    const int missing = 1 + pick(next);
    // like a machine with rules: chips of one half are worth twice as much
    const bool rule = pick(2) == 0;
    const auto fits = [&](ChipSet freed) {
      int worth = freed.size();
      if (rule) {
        worth = 0;
        for (const int chip : freed) worth += chip % 2;
      }
      return worth >= (rule ? (missing + 1) / 2 : missing);
    };
    using Cost = std::tuple<std::size_t, int, long>;
    const auto cost_of = [&](const std::vector<std::string>& uids) {
      Cost cost{0, -100, 0};
      std::set<std::string> jobs;
      for (const Victim& v : pods) {
        if (std::find(uids.begin(), uids.end(), v.uid) == uids.end()) continue;
        if (v.job.empty()) std::get<0>(cost) += 1;
        if (!v.job.empty() && jobs.insert(v.job).second) std::get<0>(cost) += v.job_pods;
        std::get<1>(cost) = std::max(std::get<1>(cost), v.priority);
        std::get<2>(cost) += v.priority + (1L << 31) + 1;
      }
      return cost;
    };
    std::optional<Cost> least;
    for (unsigned mask = 1; mask < (1U << pods.size()); ++mask) {
      std::vector<std::string> uids;
      ChipSet freed;
      for (std::size_t i = 0; i < pods.size(); ++i) {
        if ((mask >> i & 1U) == 0) continue;
        uids.push_back(pods[i].uid);
        freed |= pods[i].chips;
      }
      if (freed.size() >= missing && fits(freed) && (!least || cost_of(uids) < *least))
        least = cost_of(uids);
    }
    const auto chosen = VictimSearch(pods, missing, fits).find(1'000'000);
    ASSERT_EQ(chosen.empty(), !least.has_value()) << "round " << round;
    if (least) {
      EXPECT_EQ(cost_of(chosen), *least) << "round " << round;
    }
    // with hardly any work still a set without a needless pod
    const auto quick = VictimSearch(pods, missing, fits).find(1);
    ASSERT_EQ(quick.empty(), chosen.empty());
    const auto freed_by = [&](const std::vector<std::string>& uids, const std::string& without) {
      ChipSet freed;
      for (const Victim& v : pods) {
        if (v.uid != without && std::find(uids.begin(), uids.end(), v.uid) != uids.end())
          freed |= v.chips;
      }
      return freed;
    };
    for (const std::string& uid : quick) {
      const ChipSet freed = freed_by(quick, uid);
      EXPECT_FALSE(freed.size() >= missing && fits(freed)) << "round " << round << ": " << uid;
    }
  }
}

TEST(VictimSearches, DoNoWorkIfTooFewChipsCanComeFree) {
  int calls = 0;
  VictimSearch search({{"a", ChipSet{0, 1}, 0, {}, 1}}, 3, [&](ChipSet) {
    ++calls;
    return true;
  });
  EXPECT_TRUE(search.find(1000).empty());
  EXPECT_EQ(calls, 0);
}

TEST(VictimSearches, StopWhenTheirWorkIsDone) {
  std::vector<Victim> pods;
  pods.reserve(40);
  for (int i = 0; i < 40; ++i) pods.push_back({"p" + std::to_string(i), ChipSet{i}, i % 7, {}, 1});
  int calls = 0;
  VictimSearch search(pods, 20, [&](ChipSet freed) {
    ++calls;
    return freed.size() >= 22;  // the bound does not know it
  });
  EXPECT_EQ(search.find(20'000).size(), 22U);
  EXPECT_LT(search.work_done(), 22'000);
  EXPECT_LT(calls, 1400);
}

}  // namespace
}  // namespace chipweave::sched::test
