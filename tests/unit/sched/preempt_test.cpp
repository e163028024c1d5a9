// The chosen victims, against all subsets of the proposed ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

class Preempts : public ::testing::Test {
 protected:
  void SetUp() override { world_.add_node("n1", "hgx-v100-8"); }
  // Bound to n1; its uid.
  std::string runs(const std::string& name, int chips, int priority) {
    const PodRequest a = world_.submit(World::request(name, chips), priority);
    EXPECT_TRUE(world_.bind(a, "n1").ok());
    return a.uid;
  }
  std::vector<std::string> victims(int chips, const std::vector<std::string>& offered) {
    const PodRequest wanted = World::request("wanted", chips);
    return world_.scheduler.preemption().choose_victims(wanted, "n1", offered);
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
  const PodRequest wanted = World::request("wanted", 4);
  EXPECT_TRUE(
      world_.scheduler.preemption().choose_victims(wanted, "nowhere", Names{"uid-low"}).empty());
  EXPECT_TRUE(world_.scheduler.preemption().choose_victims(wanted, "n1", Names{"nobody"}).empty());
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
    const auto chosen = world.scheduler.preemption().choose_victims(wanted, "n1", running);
    ASSERT_EQ(chosen.empty(), !least.has_value()) << "round " << round;
    if (!least) continue;
    EXPECT_TRUE(fits(chosen));
    EXPECT_EQ(cost_of(chosen), *least) << "round " << round;
  }
}

}  // namespace
}  // namespace chipweave::sched::test
