// Preemption and VictimChoice alone. Which set of victims is best: preempt_test.cpp.
#include "scheduler-plugin/app/preemption.hpp"

#include <gtest/gtest.h>

#include "scheduler-plugin/app/victim_choice.hpp"
#include "tests/unit/sched/fake_cluster.hpp"

namespace chipweave::sched::test {
namespace {

using Names = std::vector<std::string>;
using std::chrono::seconds;

struct Evicts : ::testing::Test, FakeCore {
  Evicts() { add_node("n1"); }
  std::string runs(const std::string& name, int chips, int priority, const std::string& on = "n1") {
    ClusterPod& pod = cluster.pods.at(add_pod(name, chips, priority).request.key);
    EXPECT_TRUE(reservations.take(pod.request, node(on)).ok());
    core.state.ledger.confirm(pod.request.uid);
    pod.node = on;
    return pod.request.uid;
  }
  Names victims(int chips, int priority, const Names& proposed = {}) {
    Preemption::Budget budget(1);
    return preemption.choose_victims(World::request("wanted", chips), priority, {"n1", proposed},
                                     budget);
  }

  Evaluator evaluator{core.state.nodes};
  Reservations reservations{core, evaluator, seconds(30)};
  Nominations nominations{core, evaluator, reservations};
  Preemption preemption{core, evaluator, nominations};
};

TEST_F(Evicts, OnlyPodsOfLowerPriority) {
  const std::string low = runs("low", 4, 1);
  runs("high", 4, 9);
  EXPECT_EQ(victims(4, 5), Names{low});
  EXPECT_EQ(victims(8, 5), Names{});
  EXPECT_EQ(victims(4, 1), Names{}) << "its own priority is not lower";
}

TEST_F(Evicts, WhatIsProposedStaysIfChipsAreNotTheReason) {
  const std::string one = runs("one", 2, 1);
  EXPECT_EQ(victims(4, 5, {one}), Names{one});
}

TEST_F(Evicts, NothingOnceTheBudgetIsUsedUp) {
  runs("low", 8, 1);
  Preemption::Budget budget(1);
  budget.work = 0;
  EXPECT_EQ(preemption.choose_victims(World::request("wanted", 4), 5, {"n1", {}}, budget), Names{});
}

TEST_F(Evicts, FitsOnceTheEndingPodsAreGone) {
  runs("low", 8, 1);
  const PodRequest wanted = World::request("wanted", 4);
  EXPECT_FALSE(preemption.fits_when_ended(wanted, "n1"));
  cluster.pods.at({"ns", "low"}).ending = true;
  EXPECT_TRUE(preemption.fits_when_ended(wanted, "n1"));
}

// The chips that come free are kept for the pod on the node that kube-scheduler then chooses.
TEST_F(Evicts, WhatWasChosenIsRememberedForTheNomination) {
  add_node("n2");
  const std::string on_1 = runs("on-1", 4, 1);
  runs("else-1", 4, 9);
  const std::string on_2 = runs("on-2", 4, 1, "n2");
  runs("else-2", 4, 9, "n2");
  ClusterPod wanted = add_pod("wanted", 4, 5);
  VictimChoice choice(preemption, nominations, core.authority, wanted.request, 5,
                      {{"n1", {}}, {"n2", {}}});
  const auto first = choice.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->position, 0U);
  EXPECT_EQ(first->victims.uids, Names{on_1});
  EXPECT_EQ(choice.next()->victims.uids, Names{on_2});
  EXPECT_FALSE(choice.next());
  wanted.nominated = "n2";
  cluster.pods.at(wanted.request.key) = wanted;
  nominations.nominated(wanted);
  const Holding victim = *core.state.ledger.find(on_2);
  core.state.ledger.drop(on_2);
  nominations.keep_on(node("n2"));
  ASSERT_NE(held(wanted), nullptr);
  EXPECT_EQ(held(wanted)->chips, victim.chips);
}

}  // namespace
}  // namespace chipweave::sched::test
