// Pods of gangs whose node or chip fails are ended as their label fault-scheduling asks for.
#include "scheduler-plugin/app/gangs/repair/fault_evictions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sched/preempting_world.hpp"
#include "tests/unit/sched/repair_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct FaultWorld : RepairWorld {
  explicit FaultWorld(FaultRule rule) : RepairWorld(8) {
    scheduler.end_failed_pods(evictions);
    kind.size = 3;
    kind.fault = rule;
    pods = running(kind);
  }
  void wait(std::chrono::milliseconds time) {
    clock.advance(time);
    keep_reporting();
    scheduler.tick();
  }
  // Until a failure counts.
  void wait() {
    scheduler.tick();
    wait(FaultEvictions::kLasts);
  }

  KeptEvictions evictions;
  Kind kind;
  std::vector<PodRequest> pods;
};

TEST(FaultEvictions, ByForceAPodOfANodeThatIsNotReadyEndsAtOnce) {
  FaultWorld w(FaultRule::force);
  w.set_ready("n1", false);
  w.scheduler.tick();
  w.wait(FaultEvictions::kLasts - std::chrono::milliseconds(1));
  EXPECT_THAT(w.evictions.requests, IsEmpty()) << "it may come back";
  w.wait(std::chrono::milliseconds(1));
  ASSERT_THAT(w.evictions.requests, SizeIs(1));
  EXPECT_EQ(w.evictions.requests[0].uid, "uid-train-1");
  EXPECT_EQ(w.evictions.requests[0].grace, Grace::none);
  w.evictions.requests[0].done({});
  w.wait(std::chrono::minutes(5));
  EXPECT_THAT(w.evictions.requests, SizeIs(1)) << "once";
}

TEST(FaultEvictions, WithGraceItHasItsGracePeriod) {
  FaultWorld w(FaultRule::grace);
  w.set_health("n2", 5, domain::Health::unhealthy);
  w.wait();
  ASSERT_THAT(w.evictions.requests, SizeIs(1));
  EXPECT_EQ(w.evictions.requests[0].uid, "uid-train-2");
  EXPECT_EQ(w.evictions.requests[0].grace, Grace::usual);
}

TEST(FaultEvictions, WithoutTheLabelNothingEnds) {
  FaultWorld w(FaultRule::off);
  w.set_ready("n1", false);
  w.set_health("n2", 5, domain::Health::unhealthy);
  w.wait();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
}

TEST(FaultEvictions, WithoutTheSettingNothingEnds) {
  RepairWorld w(4);
  RepairWorld::Kind kind{2};
  kind.fault = FaultRule::force;
  w.running(kind);
  w.set_ready("n1", false);
  w.scheduler.tick();
  w.clock.advance(FaultEvictions::kLasts);
  w.scheduler.tick();
  w.expect_sound();
}

TEST(FaultEvictions, AFailureThatPassesCountsAnew) {
  FaultWorld w(FaultRule::force);
  for (int i = 0; i < 3; ++i) {
    w.set_ready("n1", false);
    w.scheduler.tick();
    w.wait(FaultEvictions::kLasts - std::chrono::seconds(1));
    w.set_ready("n1", true);
    w.wait(std::chrono::seconds(1));
  }
  EXPECT_THAT(w.evictions.requests, IsEmpty());
}

// As when agents are upgraded.
TEST(FaultEvictions, AnAgentThatDoesNotReportIsNoFailure) {
  FaultWorld w(FaultRule::force);
  w.scheduler.agent_gone("n1", "boot");
  w.wait();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
}

TEST(FaultEvictions, ChipsThatOperatorsTakeOutOfServiceHaveNotFailed) {
  FaultWorld w(FaultRule::force);
  w.set_health("n1", 5, domain::Health::unhealthy);
  domain::Fault fault;
  fault.code = "cordoned";
  fault.chip = domain::ChipIndex{5};
  w.set_faults("n1", {fault});
  w.wait();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  fault.chip.reset();
  fault.code = "maintenance";
  w.set_faults("n1", {fault});
  w.wait();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  w.set_faults("n1", {});
  w.wait();
  EXPECT_THAT(w.evictions.requests, SizeIs(1));
}

TEST(FaultEvictions, OnlyThePodWithTheChipEnds) {
  FaultWorld w(FaultRule::force);
  w.set_health("n5", 0, domain::Health::unhealthy);
  w.wait();
  EXPECT_THAT(w.evictions.requests, IsEmpty());
}

TEST(FaultEvictions, WhatTheApiServerRefusesIsAskedForAgainAfterAWhile) {
  FaultWorld w(FaultRule::force);
  w.set_ready("n1", false);
  w.wait();
  ASSERT_THAT(w.evictions.requests, SizeIs(1));
  w.wait(std::chrono::minutes(1));
  EXPECT_THAT(w.evictions.requests, SizeIs(1)) << "there is no answer yet";
  w.evictions.requests[0].done(make_error(Errc::conflict, "a budget"));
  w.wait(FaultEvictions::kRetry - std::chrono::milliseconds(1));
  EXPECT_THAT(w.evictions.requests, SizeIs(1));
  w.wait(std::chrono::milliseconds(1));
  EXPECT_THAT(w.evictions.requests, SizeIs(2));
}

TEST(FaultEvictions, AnAnswerAfterThePodIsGoneIsIgnored) {
  FaultWorld w(FaultRule::force);
  w.set_ready("n1", false);
  w.wait();
  ASSERT_THAT(w.evictions.requests, SizeIs(1));
  ASSERT_TRUE(w.cluster.end(w.pods[1].key).ok());
  w.wait(std::chrono::seconds(1));
  w.evictions.requests[0].done({});
  w.wait(std::chrono::minutes(1));
  EXPECT_THAT(w.evictions.requests, SizeIs(1));
  // the replacement does not come to the node, though its chips are free
  const auto again = w.member(w.kind, 1, 1);
  EXPECT_THAT(w.fit(again), testing::ElementsAre("n3"));
}

TEST(FaultEvictions, APodThatEndsAlreadyEndsByForceOnly) {
  for (const FaultRule rule : {FaultRule::grace, FaultRule::force}) {
    FaultWorld w(rule);
    const_cast<ClusterPod*>(w.cluster.find(w.pods[1].key))->ending = true;
    w.set_ready("n1", false);
    w.wait();
    EXPECT_THAT(w.evictions.requests, SizeIs(rule == FaultRule::force ? 1 : 0));
  }
}

}  // namespace
}  // namespace chipweave::sched::test
