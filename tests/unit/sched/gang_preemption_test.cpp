// Gangs behind the gate that end pods of lower priority.
#include "scheduler-plugin/app/gangs/preemption/gang_preemption.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler-plugin/app/gangs/gang_status.hpp"
#include "tests/unit/sched/preempting_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(GangPreemption, EndsTheCheapestAndKeepsTheirChips) {
  PreemptingWorld w;
  w.nodes(4);
  w.running("dear", "n0", 5);
  w.running("cheap-1", "n1", 1);
  w.running("cheap-2", "n2", 2);
  w.running("free-rider", "n3", 1, 4);
  const auto pods = w.gang_of("train", 2, 9);
  w.settle();
  // n3 needs the end of one pod, as n1 does; n2 has the higher priority
  EXPECT_EQ(w.accept(), (std::set<std::string>{"cheap-1", "free-rider"}));
  EXPECT_EQ(w.why("train"), "waits for 2 pods to end");
  // the free chips of n3 are kept from the start
  const auto other = w.submit("other", 4);
  EXPECT_THAT(w.fit(other), IsEmpty());
  w.gone("cheap-1");
  w.expect_sound();
  EXPECT_THAT(w.fit(other), IsEmpty()) << "the chips of a victim are nobody else's";
  w.settle();
  EXPECT_EQ(w.why("train"), "waits for 1 pod to end");
  w.gone("free-rider");
  EXPECT_THAT(w.fit(other), IsEmpty());
  w.settle();
  ASSERT_THAT(w.scheduler.gang_plans().all(), SizeIs(1));
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n1"));
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n3"));
  for (const auto& pod : pods) ASSERT_TRUE(w.bind(pod, *w.fit(pod).begin()).ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  w.expect_sound();
}

TEST(GangPreemption, IsOffWithoutAWayToEvict) {
  World w;
  w.add_node("n0", "hgx-h100-8");
  const auto low = w.submit(World::request("low", 8), 1);
  ASSERT_TRUE(w.bind(low, "n0").ok());
  PreemptingWorld of_pods;
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(w.cluster.add(of_pods.gang_pod("train", i, 2, 4, 9), "{}").ok());
  for (int i = 0; i < 5; ++i) w.scheduler.gang_gates().check();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
}

TEST(GangPreemption, AGangEndsAsAWholeAndOnlyIfSinglePodsAreNotEnough) {
  PreemptingWorld w;
  w.nodes(4);
  w.running_gang("victims", 2, 1);
  w.running("single-1", "n2", 3);
  w.running("single-2", "n3", 3);
  w.gang_of("train", 2, 9);
  w.settle();
  // the highest priority counts first
  EXPECT_EQ(w.accept(), (std::set<std::string>{"victims-0", "victims-1"}));
  EXPECT_EQ(w.why("train"), "waits for 2 pods of 1 gang to end");
}

TEST(GangPreemption, AmongEqualPrioritiesNoGangIsBroken) {
  PreemptingWorld w;
  w.nodes(4);
  w.running_gang("victims", 2, 3);
  w.running("single-1", "n2", 3, 4);
  w.running("single-2", "n2", 3, 4);
  w.running("single-3", "n3", 3, 4);
  w.running("single-4", "n3", 3, 4);
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_EQ(w.accept(), (std::set<std::string>{"single-1", "single-2", "single-3", "single-4"}));
}

TEST(GangPreemption, TheWholeGangEndsThoughOnlyAPartIsInTheWay) {
  PreemptingWorld w;
  w.nodes(3);
  w.running_gang("victims", 3, 1);
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_EQ(w.accept(), (std::set<std::string>{"victims-0", "victims-1", "victims-2"}));
  w.gone("victims-2");
  w.settle();
  // chips that the gang does not need are not kept
  const auto other = w.submit("other", 8);
  EXPECT_THAT(w.fit(other), ElementsAre("n2"));
}

TEST(GangPreemption, NobodyOfTheSameOrAHigherPriorityEnds) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("same", "n0", 9);
  w.running("higher", "n1", 10);
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  EXPECT_THAT(w.why("train"),
              HasSubstr("it would not fit if all pods of lower priority that may end did"));
  EXPECT_EQ(w.evictions.reads, 0) << "that needs no budgets";
}

TEST(GangPreemption, AGangWithOnePodOfHigherPriorityIsSafe) {
  PreemptingWorld w;
  w.nodes(2);
  auto low = w.gang_pod("victims", 0, 2, 8, 1);
  auto high = w.gang_pod("victims", 1, 2, 8, 9);
  ASSERT_TRUE(w.cluster.add(low, "{}").ok());
  ASSERT_TRUE(w.cluster.add(high, "{}").ok());
  w.check();
  w.check();
  ASSERT_TRUE(w.bind(low.request, *w.fit(low.request).begin()).ok());
  ASSERT_TRUE(w.bind(high.request, *w.fit(high.request).begin()).ok());
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
}

TEST(GangPreemption, PodsWithPreemptionPolicyNeverEndNobody) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("low-1", "n0", 1);
  w.running("low-2", "n1", 1);
  for (int i = 0; i < 2; ++i) {
    ClusterPod pod = w.gang_pod("train", i, 2, 8, 9);
    pod.may_preempt = i != 0;
    ASSERT_TRUE(w.cluster.add(pod, "{}").ok());
  }
  w.settle();
  EXPECT_EQ(w.evictions.reads, 0);
  EXPECT_THAT(w.evictions.requests, IsEmpty());
}

TEST(GangPreemption, AGangThatCouldNotFitEndsNobody) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("low-1", "n0", 1);
  w.running("low-2", "n1", 1);
  w.gang_of("train", 3, 9);
  w.settle();
  EXPECT_EQ(w.evictions.reads, 0);
}

TEST(GangPreemption, BudgetsAreRespected) {
  PreemptingWorld w;
  w.nodes(3);
  const auto a = w.running("a", "n0", 1);
  const auto b = w.running("b", "n1", 1);
  w.running("c", "n2", 4);
  w.evictions.all = {{"ns", "budget", 1, {a.uid, b.uid}}};
  w.gang_of("train", 2, 9);
  w.settle();
  const auto ended = w.accept();
  EXPECT_THAT(ended, SizeIs(2));
  EXPECT_TRUE(ended.contains("c")) << "a and b must not both end, whatever their priority";
  EXPECT_THAT(w.evictions.asked, ElementsAre("ns"));
}

TEST(GangPreemption, BudgetsThatAllowNothingKeepTheGangWaiting) {
  PreemptingWorld w;
  w.nodes(2);
  const auto a = w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  w.evictions.all = {{"ns", "budget", 0, {a.uid}}};
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  EXPECT_THAT(w.why("train"), HasSubstr("PodDisruptionBudgets keep the pods"));
  // what budgets allow may change without notice
  w.evictions.all.front().allowed = 1;
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty()) << "not at once";
  w.clock.advance(GangPreemption::kRest);
  w.keep_reporting();
  w.settle();
  EXPECT_EQ(w.accept(), (std::set<std::string>{"a", "b"}));
}

TEST(GangPreemption, TwoBudgetsTogetherKeepWhatEachAloneAllows) {
  PreemptingWorld w;
  w.nodes(2);
  const auto a = w.running("a", "n0", 1);
  const auto b = w.running("b", "n1", 1);
  w.evictions.all = {{"ns", "budget", 1, {a.uid, b.uid}}};
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  EXPECT_THAT(w.why("train"), HasSubstr("PodDisruptionBudgets keep the pods"));
}

TEST(GangPreemption, APodOfTwoBudgetsCannotBeEvicted) {
  PreemptingWorld w;
  w.nodes(2);
  const auto a = w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  w.evictions.all = {{"ns", "one", 9, {a.uid}}, {"ns", "two", 9, {a.uid}}};
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
}

TEST(GangPreemption, WithoutTheBudgetsNobodyEnds) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  w.evictions.problem = "HTTP 403";
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  EXPECT_THAT(w.why("train"), HasSubstr("the PodDisruptionBudgets cannot be read: HTTP 403"));
  EXPECT_EQ(w.evictions.reads, 1);
  w.evictions.problem.clear();
  w.clock.advance(GangPreemption::kRest);
  w.keep_reporting();
  w.settle();
  EXPECT_EQ(w.accept(), (std::set<std::string>{"a", "b"}));
}

TEST(GangPreemption, ARefusedEvictionIsTriedAgainWithPauses) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  w.gang_of("train", 2, 9);
  w.settle();
  ASSERT_THAT(w.evictions.requests, SizeIs(2));
  auto first = std::exchange(w.evictions.requests, {});
  first[0].done(make_error(Errc::conflict, "a budget does not allow it now"));
  w.begins_to_end(first[1].pod);
  first[1].done({});
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  w.clock.advance(std::chrono::seconds(2));
  w.settle();
  ASSERT_THAT(w.evictions.requests, SizeIs(1));
  EXPECT_EQ(w.evictions.requests[0].uid, first[0].uid);
}

TEST(GangPreemption, AnEvictionThatIsForbiddenEndsTheAttempt) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  w.gang_of("train", 2, 9);
  w.settle();
  auto asked = std::exchange(w.evictions.requests, {});
  ASSERT_THAT(asked, SizeIs(2));
  asked[0].done(make_error(Errc::invalid_argument, "HTTP 403"));
  asked[1].done({});
  w.settle();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  EXPECT_THAT(w.why("train"), HasSubstr("HTTP 403"));
}

TEST(GangPreemption, AtMostSoManyEvictionsAreAskedForAtATime) {
  PreemptingWorld w;
  w.nodes(3);
  for (int node = 0; node < 3; ++node) {
    for (int i = 0; i < 8; ++i)
      w.running("p" + std::to_string(8 * node + i), "n" + std::to_string(node), 1, 1);
  }
  w.gang_of("train", 3, 9);
  w.settle();
  EXPECT_THAT(w.evictions.requests, SizeIs(VictimEvictions::kMaxEvicting));
  std::set<std::string> ended = w.accept();
  w.settle();
  EXPECT_THAT(w.evictions.requests, SizeIs(24 - VictimEvictions::kMaxEvicting));
  ended.merge(w.accept());
  EXPECT_THAT(ended, SizeIs(24));
}

TEST(GangPreemption, ItEndsAfterATime) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  w.gang_of("train", 2, 9);
  w.settle();
  w.accept();
  w.gone("a");
  w.settle();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 1U);
  w.clock.advance(GangPreemption::kLifetime);
  w.keep_reporting();
  w.settle();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  EXPECT_THAT(w.why("train"), HasSubstr("have ended in time"));
}

TEST(GangPreemption, AReplicaThatStepsDownKeepsNothing) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  w.gang_of("train", 2, 9);
  w.settle();
  auto asked = std::exchange(w.evictions.requests, {});
  w.scheduler.step_down();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
  for (auto& one : asked) one.done({});  // late answers change nothing
  w.expect_sound();
}

TEST(GangPreemption, TheNextLeaderGoesOnWithTheSameVictims) {
  PreemptingWorld w;
  w.nodes(4);
  w.running_gang("one", 2, 1);
  w.running_gang("two", 2, 1);
  w.gang_of("train", 2, 9);
  w.settle();
  auto asked = std::exchange(w.evictions.requests, {});
  ASSERT_THAT(asked, SizeIs(2));
  // one of two pods of a gang ends, then another replica leads
  w.begins_to_end(asked[0].pod);
  w.scheduler.step_down();
  w.settle();
  ASSERT_THAT(w.evictions.requests, SizeIs(1));
  EXPECT_EQ(w.evictions.requests[0].uid, asked[1].uid);
  w.accept();
  w.scheduler.step_down();
  w.settle();
  EXPECT_THAT(w.evictions.requests, IsEmpty()) << "all that has to end ends already";
  EXPECT_EQ(w.why("train"), "waits for 2 pods to end");
  w.gone(asked[0].pod.name);
  w.gone(asked[1].pod.name);
  w.settle();
  EXPECT_THAT(w.scheduler.gang_plans().all(), SizeIs(1));
}

TEST(GangPreemption, WhatFitsOtherwiseEndsNobodyMore) {
  PreemptingWorld w;
  w.nodes(3);
  w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  const auto high = w.running("high", "n2", 20);
  w.gang_of("train", 2, 9);
  w.settle();
  auto asked = std::exchange(w.evictions.requests, {});
  ASSERT_THAT(asked, SizeIs(2));
  w.begins_to_end(asked[0].pod);
  asked[0].done({});
  asked[1].done(make_error(Errc::conflict, "a budget does not allow it now"));
  w.gone(high.key.name);
  w.gone(asked[0].pod.name);
  w.clock.advance(std::chrono::seconds(2));
  w.settle();
  EXPECT_THAT(w.scheduler.gang_plans().all(), SizeIs(1));
  EXPECT_THAT(w.evictions.requests, IsEmpty());
}

TEST(GangPreemption, AGangThatIsGoneKeepsNothing) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  const auto pods = w.gang_of("train", 2, 9);
  w.settle();
  w.accept();
  w.gone("a");
  w.settle();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 1U);
  for (const auto& pod : pods) w.gone(pod.key.name);
  w.settle();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
}

TEST(GangPreemption, ChipsThatFailMeanwhileAreReplaced) {
  PreemptingWorld w;
  w.nodes(3);
  w.running("a", "n0", 1);
  w.running("b", "n1", 1);
  w.running("c", "n2", 2);
  w.gang_of("train", 2, 9);
  w.settle();
  EXPECT_EQ(w.accept(), (std::set<std::string>{"a", "b"}));
  w.gone("a");
  w.settle();
  w.set_health("n1", 3, domain::Health::unhealthy);
  w.settle();
  EXPECT_EQ(w.accept(), (std::set<std::string>{"c"}));
  w.gone("c");
  w.settle();
  EXPECT_THAT(w.scheduler.gang_plans().all(), SizeIs(1));
}

TEST(GangPreemption, OneGangAtATimeTheFirstInOrder) {
  PreemptingWorld w;
  w.nodes(2);
  w.running("a", "n0", 1, 4);
  w.running("b", "n0", 2, 4);
  w.running("c", "n1", 3);
  w.gang_of("second", 2, 8, 4);
  w.gang_of("first", 2, 9, 4);
  w.settle();
  EXPECT_EQ(w.accept(), (std::set<std::string>{"a", "b"}));
  w.gone("a");
  w.gone("b");
  w.settle();
  EXPECT_EQ(w.why("first"), "0 of 2 pods are bound");
  EXPECT_EQ(w.accept(), (std::set<std::string>{"c"}));
}

TEST(GangPreemption, CpuOfVictimsComesFreeToo) {
  PreemptingWorld w;
  w.nodes(1);
  w.scheduler.node_offers("n0", NodeUse{16'000, std::int64_t{64} << 30U});
  ClusterPod low;
  low.request = World::request("low", 1);
  low.priority = 1;
  low.others.milli_cpu = 12'000;
  ASSERT_TRUE(w.cluster.add(low, "{}").ok());
  ASSERT_TRUE(w.bind(low.request, "n0").ok());
  w.scheduler.reconciler().node_use_changed("n0", {12'000, 0});
  for (int i = 0; i < 2; ++i) {
    ClusterPod pod = w.gang_pod("train", i, 2, 2, 9);
    pod.request.needs = solver::Room::needed(8'000, 1024);
    ASSERT_TRUE(w.cluster.add(pod, "{}").ok());
  }
  w.settle();
  EXPECT_EQ(w.accept(), (std::set<std::string>{"low"}));
  w.scheduler.reconciler().node_use_changed("n0", {-12'000, 0});
  w.gone("low");
  w.settle();
  EXPECT_THAT(w.scheduler.gang_plans().all(), SizeIs(1));
}

}  // namespace
}  // namespace chipweave::sched::test
