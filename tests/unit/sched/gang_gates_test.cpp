// Gangs behind the gate: planned in order, stored, and only then let go.
#include "scheduler-plugin/app/gangs/gang_gates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/app/gangs/gang_status.hpp"
#include "scheduler-plugin/app/uncertainty.hpp"
#include "tests/unit/sched/gated_world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(GangGates, OpenOnceThePlanIsStored) {
  Gated w;
  w.nodes(3);
  const auto pods = w.gang_of("train", 3);
  w.check();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 3U);
  ASSERT_THAT(w.store.puts, SizeIs(1));
  EXPECT_THAT(w.store.puts[0].first.slots, SizeIs(3));
  EXPECT_EQ(w.store.puts[0].first.slots[2].node, "n2");
  EXPECT_TRUE(w.gated(pods[0]));
  w.store.answer();
  w.check();
  for (const auto& pod : pods) EXPECT_FALSE(w.gated(pod));
  const auto& written = w.cluster.written(pods[1].key);
  EXPECT_EQ(written.at("chipweave.dev/rank"), "1");
  const Json plan = Json::parse(written.at("chipweave.dev/gang-plan"));
  EXPECT_EQ(plan.at("node"), "n1");
  EXPECT_EQ(plan.at("size"), 3);
  for (int i = 0; i < 3; ++i) {
    const auto& pod = pods[static_cast<std::size_t>(i)];
    const std::string node = "n" + std::to_string(i);
    EXPECT_THAT(w.fit(pod), ElementsAre(node));
    EXPECT_TRUE(w.bind(pod, node).ok());
  }
  w.expect_sound();
}

TEST(GangGates, StayClosedUntilAllPodsAreThereAndOtherGatesAreOpen) {
  Gated w;
  w.nodes(2);
  const auto first = w.gated_pod("train", 0, 2);
  w.check();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  const auto second = w.gated_pod("train", 1, 2, 0, true);
  w.check();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  EXPECT_EQ(w.scheduler.gang_view().status(*w.scheduler.gangs().of(first.uid)).why,
            "1 pod waits behind scheduling gates of others");
  ASSERT_TRUE(w.cluster.end(second.key).ok());
  w.gated_pod("train", 1, 2);
  w.check();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 2U);
}

TEST(GangGates, AStoreThatDoesNotAnswerIsAskedAgain) {
  Gated w;
  w.nodes(2);
  const auto pods = w.gang_of("train", 2);
  w.check();
  w.store.answer(make_error(Errc::unavailable, "no answer"));
  w.check();
  EXPECT_TRUE(w.gated(pods[0]));
  ASSERT_THAT(w.store.puts, SizeIs(1));
  // what can never be stored does not keep the pods waiting
  w.store.answer(make_error(Errc::limit_exceeded, "too large"));
  w.check();
  EXPECT_FALSE(w.gated(pods[0]));
}

TEST(GangGates, GangsThatDoNotFitTogetherGoOneAfterTheOther) {
  Gated w;
  w.nodes(5);
  constexpr int kGangs = 10;
  std::vector<std::vector<PodRequest>> gangs(kGangs);
  // each needs three of five nodes; their pods arrive interleaved
  for (int pod = 0; pod < 3; ++pod) {
    for (int gang = 0; gang < kGangs; ++gang)
      gangs[static_cast<std::size_t>(gang)].push_back(
          w.gated_pod("g" + std::to_string(gang), pod, 3));
    w.check();
  }
  std::set<int> done;
  for (int round = 0; round < kGangs; ++round) {
    w.check();
    w.store.answer();
    w.check();
    std::vector<int> open;
    for (int gang = 0; gang < kGangs; ++gang) {
      if (!done.contains(gang) && !w.gated(gangs[static_cast<std::size_t>(gang)][0]))
        open.push_back(gang);
    }
    ASSERT_THAT(open, ElementsAre(round)) << "the one that was complete first";
    const auto& pods = gangs[static_cast<std::size_t>(open[0])];
    for (const auto& pod : pods) {
      EXPECT_FALSE(w.gated(pod));
      ASSERT_TRUE(w.bind(pod, *w.fit(pod).begin()).ok());
    }
    w.expect_sound();
    done.insert(open[0]);
    w.end(pods);
  }
}

TEST(GangGates, HigherPriorityFirst) {
  Gated w;
  w.nodes(2);
  const auto low = w.gang_of("low", 2, 1);
  const auto high = w.gang_of("high", 2, 7);
  w.check();
  w.store.answer();
  w.check();
  EXPECT_TRUE(w.gated(low[0]));
  EXPECT_FALSE(w.gated(high[0]));
  EXPECT_EQ(w.scheduler.gang_view().status(*w.scheduler.gangs().of(low[0].uid)).state,
            GangState::waiting);
}

TEST(GangGates, ALargeGangIsNotPassedForever) {
  Gated w;
  w.nodes(4);
  const auto running = w.gang_of("running", 2);
  w.check();
  w.store.answer();
  w.check();
  for (const auto& pod : running) ASSERT_TRUE(w.bind(pod, *w.fit(pod).begin()).ok());
  const auto large = w.gang_of("large", 4);
  const auto small = w.gang_of("small", 1 + 1);
  w.check();
  w.store.answer();
  w.check();
  EXPECT_FALSE(w.gated(small[0])) << "it may go first for some time";
  w.end(small);
  w.clock.advance(GangGates::kPatience + std::chrono::seconds(1));
  w.keep_reporting(4);
  const auto late = w.gang_of("late", 2);
  w.check();
  w.store.answer();
  w.check();
  EXPECT_TRUE(w.gated(late[0]));
  w.end(running);
  w.check();
  w.store.answer();
  w.check();
  EXPECT_FALSE(w.gated(large[0]));
  EXPECT_TRUE(w.gated(late[0]));
}

TEST(GangGates, AGangThatNeverFitsKeepsNobodyWaiting) {
  Gated w;
  w.nodes(2);
  const auto huge = w.gang_of("huge", 3);
  w.check();
  w.clock.advance(GangGates::kPatience + std::chrono::seconds(1));
  w.keep_reporting(2);
  const auto small = w.gang_of("small", 2);
  w.check();
  w.store.answer();
  w.check();
  EXPECT_FALSE(w.gated(small[0]));
  EXPECT_TRUE(w.gated(huge[0]));
}

TEST(GangGates, TheNextLeaderGoesOnWithTheStoredPlan) {
  Gated w;
  w.nodes(4);
  // other nodes than a new plan would take
  const auto filler = w.submit("filler", 8);
  ASSERT_TRUE(w.bind(filler, "n0").ok());
  const auto pods = w.gang_of("train", 3);
  w.check();
  const std::string id = w.scheduler.gang_plans().all().begin()->second.id;
  w.store.answer();
  w.check();
  ASSERT_TRUE(w.bind(pods[1], "n2").ok());
  w.check();
  w.store.answer();
  w.scheduler.step_down();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  ASSERT_TRUE(w.cluster.end(filler.key).ok());
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n1"));
  EXPECT_THAT(w.fit(pods[2]), ElementsAre("n3"));
  EXPECT_EQ(w.scheduler.gang_plans().all().begin()->second.id, id);
  w.expect_sound();
}

TEST(GangGates, ThePlanOfAnEarlierGangOfTheNameIsNotTakenUp) {
  Gated w;
  w.nodes(2);
  const auto pods = w.gang_of("train", 2);
  w.check();
  w.store.answer();
  w.scheduler.step_down();
  ClusterPod later = w.pod(pods[0]);
  w.end(pods);
  ASSERT_THAT(w.store.stored, SizeIs(1));
  later.request.uid = "another";
  ASSERT_TRUE(w.cluster.add(later, "{}").ok());
  EXPECT_THAT(w.fit(later.request), IsEmpty());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.gated_pod("train", 1, 2);
  EXPECT_THAT(w.fit(later.request), SizeIs(1));
  w.expect_sound();
}

// No API server binds them, and what they hold would decide where their gang goes.
TEST(GangGates, PodsBehindAGateAreNotAdmitted) {
  Gated w;
  w.nodes(2);
  const auto pods = w.gang_of("train", 2);
  const PodRequest other = w.gated_pod("other", 0, 1, 0, true);
  for (const PodRequest& pod : {pods[0], other}) {
    for (const bool dry_run : {false, true}) {
      std::string why;
      w.scheduler.admissions().admit(
          {{pod.key, pod.uid, "n0"}, "", dry_run},
          [&](const auto& result) { why = result ? "admitted" : result.error().message; });
      EXPECT_EQ(why, "pod " + pod.key.text() + " is behind a scheduling gate");
    }
  }
  EXPECT_EQ(w.scheduler.ledger().bound(), 0U);
  w.expect_sound();
}

// Its plan ends with the term, while the binding goes on.
TEST(GangGates, ABindingThatFailsAfterAStepDownLeavesNothingReserved) {
  Gated w;
  w.nodes(2);
  const auto pods = w.gang_of("train", 2);
  w.check();
  w.store.answer();
  w.check();
  for (const PodRequest& pod : pods) {
    bool admitted = false;
    w.scheduler.admissions().admit({{pod.key, pod.uid, *w.fit(pod).begin()}, "", false},
                                   [&](const auto& result) { admitted = result.ok(); });
    ASSERT_TRUE(admitted);
  }
  w.scheduler.step_down();
  ASSERT_TRUE(w.cluster.end(pods[0].key).ok());
  EXPECT_EQ(w.scheduler.ledger().bound(), 1U);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  // the cluster shows that the other one was not stored
  w.clock.advance(kUncertaintyWindow + kUncertaintyWindow);
  w.scheduler.tick();
  EXPECT_EQ(w.scheduler.ledger().bound(), 0U);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
}

TEST(GangGates, WhatIsNoLongerFreeIsPlannedAgain) {
  Gated w;
  w.nodes(4);
  const auto pods = w.gang_of("train", 2);
  w.check();
  w.store.answer();
  w.check();
  w.scheduler.step_down();
  const auto other = w.submit("other", 8);
  ASSERT_TRUE(w.bind(other, "n0").ok());
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n1"));
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n2"));
  w.expect_sound();
}

TEST(GangGates, APodThatReplacesAnotherIsLetGoAtOnce) {
  Gated w;
  w.nodes(3);
  const auto pods = w.gang_of("train", 2);
  w.check();
  w.store.answer();
  w.check();
  for (const auto& pod : pods) ASSERT_TRUE(w.bind(pod, *w.fit(pod).begin()).ok());
  ASSERT_TRUE(w.cluster.end(pods[0].key).ok());
  ClusterPod again;
  again.request = pods[0];
  again.request.uid = "again";
  again.gated = true;
  ASSERT_TRUE(w.cluster.add(again, "{}").ok());
  w.check();
  w.store.answer();
  w.check();
  EXPECT_FALSE(w.gated(pods[0]));
  EXPECT_THAT(w.fit(again.request), ElementsAre("n0"));
  w.expect_sound();
}

TEST(GangGates, PlansOfGangsThatAreGoneAreNotKept) {
  Gated w;
  w.nodes(2);
  const auto pods = w.gang_of("train", 2);
  w.check();
  w.store.answer();
  EXPECT_THAT(w.store.stored, SizeIs(1));
  w.end(pods);
  w.check();
  EXPECT_THAT(w.store.stored, IsEmpty());
}

}  // namespace
}  // namespace chipweave::sched::test
