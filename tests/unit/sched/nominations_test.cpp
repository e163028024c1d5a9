// Pods for which kube-scheduler has nominated a node: what their victims free is kept for them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using NodeNames = std::set<std::string>;

class Nominated : public ::testing::Test {
 protected:
  void SetUp() override { w_.add_node("n1", "hgx-v100-8"); }
  PodRequest runs(const std::string& name, int chips, int priority = 0) {
    const PodRequest a = w_.submit(World::request(name, chips), priority);
    EXPECT_TRUE(w_.bind(a, "n1").ok());
    return a;
  }
  PodRequest waits(const std::string& name, int chips, int priority) {
    return w_.submit(World::request(name, chips), priority);
  }
  void nominate(const PodRequest& a, const std::string& node) {
    ClusterPod pod = w_.pod(a);
    pod.nominated = node;
    w_.scheduler.reconciler().pod_nominated(pod);
    w_.expect_sound();
  }
  // kube-scheduler asks for victims, and takes those of this node.
  std::vector<std::string> preempts(const PodRequest& a, int priority, const std::string& node) {
    const std::vector<ProposedVictims> nodes{{node, {}}};
    auto victims = w_.scheduler.preemption().choose_victims(a, priority, nodes);
    w_.scheduler.nominations().proposed(a.uid, {{node, victims.at(0)}});
    nominate(a, node);
    return victims.at(0);
  }
  void ends(const PodRequest& a) {
    ASSERT_TRUE(w_.cluster.end(a.key).ok());
    w_.expect_sound();
  }
  void pass(std::chrono::seconds time) {
    w_.clock.advance(time);
    w_.scheduler.heartbeat("n1", "boot");
    w_.scheduler.tick();
    w_.expect_sound();
  }
  World w_;
};

TEST_F(Nominated, GetsWhatItsVictimsFreeAlthoughAnotherAsksFirst) {
  const auto one = runs("one", 4);
  runs("two", 4);
  const auto high = waits("high", 4, 10);
  EXPECT_EQ(w_.fit(high), NodeNames{});
  const auto victims = preempts(high, 10, "n1");
  ASSERT_EQ(victims.size(), 1U);
  const auto victim = victims[0] == one.uid ? one : w_.pod(World::request("two", 4)).request;
  const auto freed = w_.chips(victim);
  const auto low = waits("low", 2, 0);
  const auto same = waits("same", 4, 10);
  EXPECT_EQ(w_.fit(low), NodeNames{});
  ends(victim);
  EXPECT_EQ(w_.fit(low), NodeNames{});
  EXPECT_EQ(w_.fit(same), NodeNames{}) << "it was there first";
  EXPECT_EQ(w_.fit(high), NodeNames{"n1"});
  EXPECT_EQ(w_.fit(low), NodeNames{});
  ASSERT_TRUE(w_.bind(high, "n1").ok());
  EXPECT_EQ(w_.chips(high), freed);
}

// kube-scheduler may ask again when it has seen the first victim go, or before it has seen the
// last.
TEST_F(Nominated, NoOtherPodsEndWhileItsVictimsGo) {
  w_.add_node("n2", "ascend-910a-8");
  std::vector<PodRequest> low;
  for (const char* name : {"a", "b", "c", "d"}) {
    low.push_back(w_.submit(World::request(name, 2, "huawei.com/Ascend910")));
    ASSERT_TRUE(w_.bind(low.back(), "n2").ok());
  }
  const auto high = w_.submit(World::request("high", 4, "huawei.com/Ascend910"), 10);
  const auto asks = [&](const PodRequest& proposed) {
    const std::vector<ProposedVictims> nodes{{"n2", {proposed.uid}}};
    return w_.scheduler.preemption().choose_victims(high, 10, nodes).at(0);
  };
  const auto victims = preempts(high, 10, "n2");
  ASSERT_EQ(victims.size(), 2U);
  std::vector<PodRequest> going;
  std::vector<PodRequest> staying;
  for (const PodRequest& pod : low) {
    const bool goes = std::find(victims.begin(), victims.end(), pod.uid) != victims.end();
    (goes ? going : staying).push_back(pod);
  }
  using Uids = std::set<std::string>;
  const auto again = asks(staying[1]);
  EXPECT_EQ(Uids(again.begin(), again.end()), Uids(victims.begin(), victims.end()));
  ends(going[0]);
  EXPECT_EQ(asks(staying[1]), std::vector<std::string>{going[1].uid});
  for (int i = 0; i < 6; ++i) {  // the grace period of the second
    pass(seconds(10));
    w_.scheduler.heartbeat("n2", "boot");
  }
  ends(going[1]);
  const auto gone = asks(staying[1]);
  EXPECT_EQ(Uids(gone.begin(), gone.end()), Uids(victims.begin(), victims.end()));
  pass(Nominations::kSettles + seconds(1));
  EXPECT_EQ(asks(staying[1]), std::vector<std::string>{staying[1].uid}) << "not for its chips";
}

TEST_F(Nominated, KeepsTheFreeChipsOfTheSetAndThoseOfEachVictimAsItGoes) {
  const auto one = runs("one", 3);
  const auto two = runs("two", 3);
  const auto high = waits("high", 8, 10);
  EXPECT_EQ(preempts(high, 10, "n1").size(), 2U);
  EXPECT_EQ(w_.chips(high).size(), 2U);
  EXPECT_EQ(w_.fit(waits("low", 1, 0)), NodeNames{});
  ends(one);
  EXPECT_EQ(w_.chips(high).size(), 5U);
  EXPECT_EQ(w_.fit(high), NodeNames{}) << "kube-scheduler tries it before the other is gone";
  EXPECT_EQ(w_.fit(waits("low2", 1, 9)), NodeNames{});
  EXPECT_EQ(w_.chips(high).size(), 5U);
  ends(two);
  EXPECT_EQ(w_.chips(high).size(), 8U);
  EXPECT_EQ(w_.fit(waits("low3", 1, 9)), NodeNames{});
  ASSERT_TRUE(w_.bind(high, "n1").ok());
  w_.expect_sound();
}

TEST_F(Nominated, LeavesTheOtherChipsToOthers) {
  const auto one = runs("one", 4);
  const auto high = waits("high", 6, 10);
  EXPECT_EQ(preempts(high, 10, "n1").size(), 1U);
  EXPECT_GE(w_.chips(high).size(), 2U);
  EXPECT_LE(w_.chips(high).size(), 4U);
  ends(one);
  EXPECT_EQ(w_.chips(high).size(), 6U);
  EXPECT_EQ(w_.fit(waits("low", 2, 0)), NodeNames{"n1"});
}

TEST_F(Nominated, GivesItsChipsToAPodOfHigherPriority) {
  const auto victim = runs("victim", 8);
  const auto high = waits("high", 6, 10);
  preempts(high, 10, "n1");
  ends(victim);
  EXPECT_EQ(w_.chips(high).size(), 6U);
  const auto higher = waits("higher", 8, 11);
  EXPECT_EQ(w_.fit(higher), NodeNames{"n1"});
  EXPECT_EQ(w_.chips(higher).size(), 8U);
  EXPECT_EQ(w_.chips(high).size(), 0U);
  ASSERT_TRUE(w_.bind(higher, "n1").ok());
  pass(seconds(1));
  EXPECT_EQ(w_.chips(high).size(), 0U);
}

TEST_F(Nominated, KeepsItsChipsIfThoseWouldNotBeEnoughForAPodOfHigherPriority) {
  runs("stays", 4, 20);
  const auto victim = runs("victim", 4);
  const auto high = waits("high", 4, 10);
  preempts(high, 10, "n1");
  ends(victim);
  EXPECT_EQ(w_.fit(waits("higher", 6, 11)), NodeNames{});
  EXPECT_EQ(w_.chips(high).size(), 4U);
}

TEST_F(Nominated, ItsVictimsAreNotThoseOfAnother) {
  runs("one", 4);
  const auto two = runs("two", 4, 5);
  const auto high = waits("high", 4, 10);
  const auto second = waits("second", 4, 10);
  const auto first_victims = preempts(high, 10, "n1");
  const auto second_victims = preempts(second, 10, "n1");
  EXPECT_EQ(second_victims, std::vector<std::string>{two.uid});
  EXPECT_NE(first_victims, second_victims);
  EXPECT_EQ(preempts(waits("third", 4, 10), 10, "n1"), std::vector<std::string>{});
  EXPECT_EQ(preempts(waits("higher", 8, 30), 30, "n1").size(), 2U);
}

TEST_F(Nominated, EndsWithTheNominationThePodOrTime) {
  const auto victim = runs("victim", 8);
  const auto high = waits("high", 8, 10);
  const auto low = waits("low", 1, 0);
  preempts(high, 10, "n1");
  ends(victim);
  EXPECT_EQ(w_.fit(low), NodeNames{});
  const auto freed = w_.scheduler.freed();
  nominate(high, "");
  EXPECT_GT(w_.scheduler.freed(), freed) << "waiting pods are tried again";
  EXPECT_EQ(w_.fit(low), NodeNames{"n1"});
  ends(low);

  nominate(high, "n1");
  EXPECT_EQ(w_.fit(waits("low2", 1, 0)), NodeNames{});
  ends(high);
  const auto low3 = waits("low3", 1, 0);
  EXPECT_EQ(w_.fit(low3), NodeNames{"n1"});
  ends(low3);

  nominate(waits("other", 8, 10), "n1");
  pass(minutes(10) - seconds(1));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U);
  pass(seconds(1));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 0U);
}

TEST_F(Nominated, MovesWithTheNomination) {
  w_.add_node("n2", "hgx-v100-8");
  const auto high = waits("high", 8, 10);
  nominate(high, "n1");
  EXPECT_EQ(w_.node_of(high), "n1");
  nominate(high, "n2");
  EXPECT_EQ(w_.node_of(high), "n2");
  nominate(high, "nowhere");
  EXPECT_EQ(w_.node_of(high), "");
}

// As kube-scheduler 1.35 does before it waits for volumes.
TEST_F(Nominated, AReservationOfItsOwnStaysAndLastsLonger) {
  const auto a = waits("a", 2, 0);
  ASSERT_EQ(w_.fit(a), NodeNames{"n1"});
  const auto planned = w_.chips(a);
  pass(seconds(20));
  nominate(a, "n1");
  EXPECT_EQ(w_.chips(a), planned);
  pass(seconds(29));
  EXPECT_EQ(w_.chips(a), planned);
  EXPECT_EQ(w_.fit(waits("higher", 8, 10)), NodeNames{}) << "it is being bound";
  pass(seconds(5));
  EXPECT_EQ(w_.fit(waits("lower", 7, -1)), NodeNames{}) << "kept for the nomination";
  ASSERT_TRUE(w_.bind(a, "n1").ok());
  EXPECT_EQ(w_.chips(a), planned);
  w_.expect_sound();
}

TEST_F(Nominated, DoesNotBlockAPodThatIsBoundThereByOthers) {
  const auto high = waits("high", 8, 10);
  nominate(high, "n1");
  ASSERT_EQ(w_.chips(high).size(), 8U);
  EXPECT_FALSE(w_.bind(waits("low", 2, 0), "n1").ok());
  w_.set_health("n1", 3, domain::Health::unhealthy);
  pass(seconds(1));
  EXPECT_EQ(w_.chips(high).size(), 0U) << "it would not fit any more";
  w_.set_health("n1", 3, domain::Health::healthy);
  pass(seconds(1));
  EXPECT_EQ(w_.chips(high).size(), 8U);
}

TEST_F(Nominated, HasLimits) {
  std::vector<PodRequest> pods;
  for (std::size_t i = 0; i <= Nominations::kMaxNominations; ++i) {
    pods.push_back(waits("p" + std::to_string(i), 1, 0));
    ClusterPod pod = w_.pod(pods.back());
    pod.nominated = "n1";
    w_.scheduler.reconciler().pod_nominated(pod);
  }
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 8U);
  for (std::size_t i = 0; i < Nominations::kMaxNominations; ++i) ends(pods[i]);
  pass(seconds(1));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 0U) << "the last one was not counted";
}

}  // namespace
}  // namespace chipweave::sched::test
