// A search for victims that takes several turns.
#include "scheduler-plugin/app/gangs/preemption/gang_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sched/preempting_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// More plans than one turn makes.
struct LongSearch : PreemptingWorld {
  LongSearch() {
    nodes(16);
    for (int node = 0; node < 16; ++node) {
      for (int i = 0; i < 8; ++i)
        running("p" + std::to_string(8 * node + i), "n" + std::to_string(node), i < 4 ? 1 : 2, 1);
    }
    gang_of("train", 12, 9);
    check();
    check();
  }
};

TEST(GangSearch, ALongSearchGoesOnInTheNextTurns) {
  LongSearch w;
  EXPECT_THAT(w.evictions.requests, IsEmpty());
  EXPECT_EQ(w.why("train"), "looks for pods of lower priority that may end for it");
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  std::set<std::string> ended;
  for (int i = 0; i < 100; ++i) {
    w.check();
    ended.merge(w.accept());
  }
  EXPECT_THAT(ended, SizeIs(96));
}

TEST(GangSearch, WhatChangesDuringTheSearchIsNoticed) {
  LongSearch w;
  // now three nodes have a pod that may not end
  for (int i : {7, 15, 23}) w.gone("p" + std::to_string(i));
  for (int i = 0; i < 3; ++i) w.running("new" + std::to_string(i), "n" + std::to_string(i), 20, 1);
  std::set<std::string> ended;
  for (int i = 0; i < 200; ++i) {
    w.check();
    ended.merge(w.accept());
    w.expect_sound();
  }
  EXPECT_THAT(ended, SizeIs(96));
  for (int i = 0; i < 24; ++i) EXPECT_FALSE(ended.contains("p" + std::to_string(i))) << i;
}

TEST(GangSearch, AnotherPodInTheGangBeginsTheSearchAgain) {
  LongSearch w;
  EXPECT_EQ(w.evictions.reads, 1);
  w.gone("train-3");
  w.settle();
  auto again = w.gang_pod("train", 3, 12, 8, 9);
  again.request.uid = "again";
  ASSERT_TRUE(w.cluster.add(again, "{}").ok());
  std::set<std::string> ended;
  for (int i = 0; i < 100; ++i) {
    w.check();
    ended.merge(w.accept());
  }
  EXPECT_THAT(ended, SizeIs(96));
  EXPECT_EQ(w.evictions.reads, 2);
}

}  // namespace
}  // namespace chipweave::sched::test
