// Events on pods, and requeue triggers for kube-scheduler.
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Strings = std::vector<std::string>;

class BestEffort : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.add_node("n2", "hgx-v100-8");
    world_.api.settle();
    world_.tick();
  }
  void run_on(const std::string& name, int chips, const std::string& node) {
    world_.create(name, chips);
    world_.api.settle();
    world_.bind(name, node);
    world_.api.settle();
    ASSERT_EQ(world_.pod(name).node, node);
  }
  void some_time() {
    for (int i = 0; i < 30; ++i) {
      world_.pass(milliseconds(100));
      world_.api.settle();
    }
  }
  KubeWorld world_;
};

TEST_F(BestEffort, APodGetsItsReasonOnceAndThenACount) {
  run_on("a", 8, "n1");
  run_on("b", 8, "n2");
  world_.create("w", 4);
  world_.api.settle();
  EXPECT_EQ(world_.fit("w"), Strings{});
  EXPECT_EQ(world_.fit("w"), Strings{});
  world_.api.settle();
  EXPECT_EQ(world_.api.events, (Strings{"ChipsAssigned", "ChipsAssigned", "ChipsUnavailable"}));
  EXPECT_EQ(world_.api.notes.back(),
            "No node fits: not enough free chips. Details: chipweave explain ns/w");
  for (int i = 0; i < 5; ++i) {
    world_.pass(seconds(30));
    world_.fit("w");
  }
  world_.api.settle();
  EXPECT_EQ(std::count(world_.api.events.begin(), world_.api.events.end(), "ChipsUnavailable"), 1);
  EXPECT_EQ(std::count(world_.api.events.begin(), world_.api.events.end(), "again"), 2);
  // one more node for the same reason makes no new event
  world_.add_node("n3", "hgx-v100-8");
  run_on("c", 8, "n3");
  world_.fit("w");
  world_.api.settle();
  EXPECT_EQ(std::count(world_.api.events.begin(), world_.api.events.end(), "ChipsUnavailable"), 1);
  // another reason makes one
  world_.add_node("n2", "hgx-v100-8",
                  {{0, domain::Health::unhealthy}, {1, domain::Health::unhealthy}});
  world_.create("x", 8);
  world_.api.settle();
  world_.fit("x");
  world_.api.settle();
  EXPECT_EQ(world_.api.notes.back(),
            "No node fits: not enough free chips; not enough healthy chips. Details: chipweave "
            "explain ns/x");
}

TEST_F(BestEffort, AFloodOfEventsIsSlowedDownAndBounded) {
  for (int i = 0; i < 100; ++i) world_.create("w" + std::to_string(i), 99);
  world_.api.settle();
  for (int i = 0; i < 100; ++i) world_.fit("w" + std::to_string(i));
  world_.api.settle();
  EXPECT_EQ(world_.api.events.size(), 50U) << "at once";
  some_time();
  EXPECT_GT(world_.api.events.size(), 70U);
  EXPECT_LT(world_.api.events.size(), 90U) << "then ten a second";
  some_time();
  EXPECT_EQ(world_.api.events.size(), 100U);
  EXPECT_EQ(world_.kubernetes->stats().events_dropped, 0U);
}

TEST_F(BestEffort, APodThatEndsForAGangIsToldForWhich) {
  run_on("a", 8, "n1");
  world_.kubernetes->events().on(PodPreempted{{"ns", "a"}, world_.pod("a").uid, "ns/train"});
  world_.api.settle();
  EXPECT_EQ(world_.api.events, (Strings{"ChipsAssigned", "Preempted"}));
  EXPECT_EQ(world_.api.notes.back(),
            "Ends so that gang ns/train, which has a higher priority, fits");
}

TEST_F(BestEffort, APodThatEndsBecauseItsNodeFailedIsToldWhy) {
  run_on("a", 8, "n1");
  auto& events = world_.kubernetes->events();
  events.on(GangPodEnded{{"ns", "a"}, world_.pod("a").uid, "ns/train", "node n1 is not ready", ""});
  world_.api.settle();
  EXPECT_EQ(world_.api.events, (Strings{"ChipsAssigned", "FaultScheduling"}));
  EXPECT_EQ(world_.api.notes.back(),
            "Ends, as its label fault-scheduling asks for: node n1 is not ready");
  events.on(GangPodEnded{
      {"ns", "a"}, world_.pod("a").uid, "ns/train", "node n1 is not ready", "a budget"});
  world_.api.settle();
  EXPECT_EQ(world_.api.notes.back(), "Should end, since node n1 is not ready, but: a budget");
}

// However many pods wait, none gets its event twice, and nothing is kept of pods that do not wait.
TEST(PodEvents, ARepeatedReasonMakesNoNewEventOfAnyWaitingPod) {
  constexpr int kPods = 12'000;
  ManualClock clock;
  SimulatedApi api;
  const auto process = std::make_shared<SimulatedProcess>();
  const auto transport = api.connect(process);
  PodEvents events(*transport, clock, {});
  const auto unplaceable = [&](int i) {
    const std::string name = "w" + std::to_string(i);
    events.on(PodUnplaceable{{"ns", name}, "uid-" + name, "not enough free chips"});
  };
  // The queue is full long before: each further event drops one.
  for (int i = 0; i < kPods; ++i) unplaceable(i);
  const std::uint64_t dropped = events.stats().dropped;
  ASSERT_GT(dropped, 0U);
  for (int i = 0; i < kPods; ++i) unplaceable(i);
  EXPECT_EQ(events.stats().dropped, dropped) << "events were made anew";
  events.on(PodWaitsNoMore{"uid-w7"});
  unplaceable(7);
  EXPECT_EQ(events.stats().dropped, dropped + 1) << "it was kept for a pod that did not wait";
}

TEST_F(BestEffort, ChipsThatComeFreeRequeuePods) {
  run_on("b", 8, "n2");
  world_.add_node("n1", "hgx-v100-8", {{5, domain::Health::unhealthy}});
  world_.create("w", 8);
  world_.api.settle();
  EXPECT_EQ(world_.fit("w"), Strings{});
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{}) << "nothing changed";
  world_.add_node("n1", "hgx-v100-8",
                  {{5, domain::Health::unhealthy}, {6, domain::Health::unhealthy}});
  world_.api.settle();
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{}) << "it offers less than before";
  world_.add_node("n1", "hgx-v100-8");
  world_.api.settle();
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{"n1"});
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{"n1"}) << "once is enough";
  EXPECT_EQ(world_.fit("w"), Strings{"n1"});
}

TEST_F(BestEffort, NothingIsRequeuedWhenNoPodWaits) {
  run_on("b", 8, "n2");
  world_.api.remove("ns/b");
  world_.api.settle();
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{});
}

// kube-scheduler's watch was faster than ours, both with this pod and with the deletion of another.
TEST_F(BestEffort, APodThatWasRejectedUnseenIsRequeuedAsWell) {
  run_on("b", 8, "n2");
  run_on("c", 8, "n1");
  world_.create("w", 8);
  world_.api.remove("ns/b");
  EXPECT_EQ(world_.fit("w"), Strings{});
  world_.api.settle();
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{"n1"}) << "any node will do";
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{"n1"}) << "once is enough";
}

TEST_F(BestEffort, AnExpiredReservationRequeuesPods) {
  run_on("b", 8, "n2");
  world_.create("p", 8);
  world_.create("w", 8);
  world_.api.settle();
  EXPECT_EQ(world_.fit("p"), Strings{"n1"});
  EXPECT_EQ(world_.fit("w"), Strings{});
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{});
  world_.pass(seconds(31));  // p is never bound
  world_.api.settle();
  some_time();
  EXPECT_EQ(world_.api.touched, Strings{"n1"});
}

// A pod that kube-scheduler cannot place for reasons of its own is reserved chips again and again.
TEST_F(BestEffort, ReservationsThatEndInVainTriggerLessAndLessOften) {
  run_on("b", 8, "n2");
  world_.create("p", 8);
  world_.create("w", 8);
  world_.api.settle();
  for (int i = 0; i < 600; ++i) {
    world_.fit("p");
    world_.fit("w");
    world_.pass(milliseconds(100));
    world_.api.settle();
  }
  EXPECT_GE(world_.api.touched.size(), 8U);
  EXPECT_LE(world_.api.touched.size(), 12U) << "0.5, 1, 2, 4, 8, 8 … s in a minute";
  world_.api.remove("ns/p");
  world_.add_node("n1", "hgx-v100-8", {{5, domain::Health::unhealthy}});
  world_.api.settle();
  some_time();
  const std::size_t before = world_.api.touched.size();
  world_.add_node("n1", "hgx-v100-8");
  world_.api.settle();
  world_.pass(milliseconds(600));
  world_.api.settle();
  EXPECT_EQ(world_.api.touched.size(), before + 1) << "but a chip that heals triggers at once";
}

}  // namespace
}  // namespace chipweave::sched::test
