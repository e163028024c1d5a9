// Chips that come free are kept for the first gang in line.
#include "scheduler-plugin/app/gangs/keeping/gang_keeping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/sched/gated_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kNodes = 4;

SchedulerOptions keeping_after(std::chrono::minutes after) {
  SchedulerOptions out;
  out.gates.keep_after = after;
  return out;
}

// Single pods of a whole node each come all the time; each of them runs until it is ended.
struct BusyWorld : Gated {
  explicit BusyWorld(std::chrono::minutes after = std::chrono::minutes(10))
      : Gated(keeping_after(after)) {
    nodes(kNodes);
    for (int i = 0; i < kNodes; ++i) start_single();
  }

  // Starts where there is room. Returns whether it did.
  bool start_single() {
    const PodRequest one = submit("single-" + std::to_string(++singles), 8);
    const auto where = fit(one);
    if (where.empty()) {
      EXPECT_TRUE(cluster.end(one.key).ok());
      return false;
    }
    EXPECT_TRUE(bind(one, *where.begin()).ok());
    running.push_back(one);
    return true;
  }
  // The one that has run longest.
  void end_single() {
    ASSERT_FALSE(running.empty());
    ASSERT_TRUE(cluster.end(running.front().key).ok());
    running.erase(running.begin());
  }
  void wait(std::chrono::seconds time) {
    clock.advance(time);
    keep_reporting(kNodes);
    for (int i = 0; i < 8; ++i) check();
    expect_sound();
  }
  // A gang that has waited long enough.
  std::vector<PodRequest> gang_in_line(int size) {
    std::vector<PodRequest> out = gang_of("large", size);
    check();
    wait(std::chrono::minutes(11));
    return out;
  }
  bool planned(const std::vector<PodRequest>& pods) const {
    return std::all_of(pods.begin(), pods.end(), [&](const PodRequest& one) {
      return scheduler.gang_plans().of(one.uid).slot != nullptr;
    });
  }
  std::string why(const std::string& name) const {
    for (const auto& [id, gang] : scheduler.gangs().all()) {
      if (gang.name == name) return scheduler.gang_view().status(gang).why;
    }
    return "no such gang";
  }

  std::vector<PodRequest> running;
  int singles = 0;
};

// One ends and the next one starts, a minute apart.
int minutes_until_planned(BusyWorld& w, const std::vector<PodRequest>& gang, int most) {
  for (int minute = 1; minute <= most; ++minute) {
    w.wait(std::chrono::seconds(60));
    if (w.planned(gang)) return minute;
    if (!w.running.empty()) w.end_single();
    w.start_single();  // at once
  }
  return most + 1;
}

TEST(GangKeeping, SinglePodsHoldAGangUpUntilChipsAreKept) {
  BusyWorld w;
  const auto gang = w.gang_of("large", 3);
  w.check();
  EXPECT_THAT(w.why("large"), Not(HasSubstr("first in line")));
  // ten minutes, and the pods that ran then end one by one
  const int minutes = minutes_until_planned(w, gang, 60);
  EXPECT_GE(minutes, 10);
  EXPECT_LE(minutes, 10 + kNodes);
}

TEST(GangKeeping, WithoutItTheyMayForEver) {
  BusyWorld w(std::chrono::minutes(0));
  const auto gang = w.gang_of("large", 3);
  EXPECT_EQ(minutes_until_planned(w, gang, 60), 61);
}

TEST(GangKeeping, LeavesOtherNodesToAll) {
  BusyWorld w;
  const auto gang = w.gang_in_line(3);
  EXPECT_THAT(w.why("large"), HasSubstr("chips that come free on 3 nodes are kept for it; waits "
                                        "for 3 pods there to end"));
  int started = 0;
  for (int i = 0; i < kNodes; ++i) {
    w.end_single();
    started += w.start_single() ? 1 : 0;
  }
  EXPECT_EQ(started, 1);
  w.wait(std::chrono::seconds(2));
  EXPECT_TRUE(w.planned(gang));
}

TEST(GangKeeping, ChoosesTheNodesThatAreFreest) {
  BusyWorld w;
  // a node with one chip taken instead of all
  const std::string freest = w.node_of(w.running.front());
  w.end_single();
  const auto small = w.submit("small", 1);
  ASSERT_TRUE(w.bind(small, freest).ok());
  w.gang_in_line(2);
  EXPECT_THAT(w.why("large"), HasSubstr("waits for 2 pods there to end"));
  EXPECT_THAT(w.fit(w.submit("another", 1)), IsEmpty()) << "seven of its chips are kept";
  ASSERT_TRUE(w.cluster.end(small.key).ok());
  w.wait(std::chrono::seconds(2));
  EXPECT_THAT(w.why("large"), HasSubstr("on 1 node are kept for it; waits for 1 pod there to end"));
}

TEST(GangKeeping, ChoosesNodesAgainAfterAWhile) {
  BusyWorld w;
  w.gang_in_line(2);  // n0 and n1: all are equally full
  for (const PodRequest& one : std::vector<PodRequest>(w.running)) {
    const std::string node = w.node_of(one);
    if (node == "n0" || node == "n1") continue;
    ASSERT_TRUE(w.cluster.end(one.key).ok());
    ASSERT_TRUE(w.bind(w.submit("small-" + node, 1), node).ok());
  }
  const auto before = w.submit("before", 1);
  EXPECT_THAT(w.fit(before), Not(IsEmpty())) << "chips of n2 and n3 are free for all";
  ASSERT_TRUE(w.cluster.end(before.key).ok());
  w.wait(GangKeeping::kRenew);
  EXPECT_THAT(w.fit(w.submit("after", 1)), IsEmpty()) << "they are kept now";
  EXPECT_THAT(w.why("large"), HasSubstr("waits for 2 pods there to end"));
}

TEST(GangKeeping, EndsWithTheGang) {
  BusyWorld w;
  const auto gang = w.gang_in_line(3);
  w.end_single();
  w.check();
  ASSERT_EQ(w.scheduler.ledger().reserved(), 1U);
  w.end(gang);
  w.check();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  EXPECT_TRUE(w.start_single());
}

TEST(GangKeeping, IsForOneGangAtATime) {
  BusyWorld w;
  w.gang_of("first", 3);
  w.check();
  w.wait(std::chrono::seconds(1));
  w.gang_of("second", 4);
  w.check();
  w.wait(std::chrono::minutes(12));
  EXPECT_THAT(w.why("first"), HasSubstr("first in line"));
  EXPECT_THAT(w.why("second"), Not(HasSubstr("first in line")));
}

TEST(GangKeeping, AGangThatCouldNeverRunKeepsNothing) {
  BusyWorld w;
  w.gang_of("huge", kNodes + 1);
  w.check();
  w.wait(std::chrono::seconds(1));
  w.gang_of("large", 3);
  w.check();
  w.wait(std::chrono::minutes(12));
  EXPECT_THAT(w.why("huge"), Not(HasSubstr("first in line")));
  EXPECT_THAT(w.why("large"), HasSubstr("first in line"));
}

TEST(GangKeeping, ANodeThatFailsIsReplaced) {
  BusyWorld w;
  const auto gang = w.gang_in_line(3);
  for (int chip = 0; chip < 8; ++chip) w.set_health("n0", chip, domain::Health::unhealthy);
  w.clock.advance(std::chrono::seconds(2));
  for (const char* node : {"n1", "n2", "n3"}) w.set_health(node, 0, domain::Health::healthy);
  for (int i = 0; i < 8; ++i) w.check();
  w.expect_sound();
  for (const PodRequest& one : std::vector<PodRequest>(w.running)) {
    if (w.node_of(one) == "n0") continue;
    ASSERT_TRUE(w.cluster.end(one.key).ok());
    EXPECT_FALSE(w.start_single()) << "all three are wanted now";
  }
  w.clock.advance(std::chrono::seconds(2));
  for (const char* node : {"n1", "n2", "n3"}) w.set_health(node, 0, domain::Health::healthy);
  for (int i = 0; i < 8; ++i) w.check();
  EXPECT_TRUE(w.planned(gang)) << w.why("large");
}

TEST(GangKeeping, ANewTermKeepsNothingUntilItChooses) {
  BusyWorld w;
  w.gang_in_line(3);
  w.end_single();
  w.check();
  ASSERT_EQ(w.scheduler.ledger().reserved(), 1U);
  w.scheduler.step_down();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
}

}  // namespace
}  // namespace chipweave::sched::test
