// Places that a gang keeps free beside it for replacements.
#include "scheduler-plugin/app/gangs/planning/gang_spares.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "tests/unit/sched/repair_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RepairWorld::Kind with_spares(int size, int spares, const std::string& required = {}) {
  RepairWorld::Kind kind{size};
  kind.spares = spares;
  kind.required = required;
  return kind;
}

// Their nodes, as people see them.
std::vector<std::string> spares_of(const RepairWorld& w) {
  const Gang& gang = w.scheduler.gangs().all().begin()->second;
  const auto json = nlohmann::json::parse(w.scheduler.gang_view().json(gang, true));
  std::vector<std::string> out;
  if (!json.contains("plan")) return out;
  for (const auto& spare : json["plan"].value("spares", nlohmann::json::array())) {
    EXPECT_FALSE(spare["chips"].empty());
    out.push_back(spare["node"]);
  }
  return out;
}

TEST(GangSpares, AreKeptBesideTheGang) {
  RepairWorld w(8);
  w.running(with_spares(3, 1));
  EXPECT_THAT(spares_of(w), ElementsAre("n3"));
  EXPECT_EQ(w.scheduler.ledger().reserved(), 1U);
  const auto other = w.submit("other", 8);
  EXPECT_THAT(w.fit(other), testing::Not(testing::Contains("n3")));
  w.expect_sound();
}

TEST(GangSpares, AreNoMoreThanOperatorsAllow) {
  for (const int most : {0, 1}) {
    RepairWorld w(8, 2, most);
    w.running(with_spares(3, 2));
    w.scheduler.tick();
    EXPECT_EQ(w.scheduler.ledger().reserved(), static_cast<std::size_t>(most));
    w.expect_sound();
  }
}

TEST(GangSpares, WithoutTheMarkThereAreNone) {
  RepairWorld w(8);
  w.running(with_spares(3, 0));
  w.scheduler.tick();
  EXPECT_THAT(spares_of(w), IsEmpty());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
}

TEST(GangSpares, AReplacementTakesThemAndTheyComeAgainElsewhere) {
  RepairWorld w(8);
  const auto kind = with_spares(3, 1);
  w.running(kind);
  // without the spare the block would be full
  w.fail_node(1);
  const auto again = w.member(kind, 1, 1);
  EXPECT_THAT(w.fit(again), ElementsAre("n3"));
  w.bind_planned(again);
  EXPECT_EQ(w.rank(again), 1);
  EXPECT_THAT(spares_of(w), ElementsAre("n4"));
  w.expect_sound();
}

TEST(GangSpares, AGangWithoutRoomForThemRunsNevertheless) {
  RepairWorld w(4);
  const auto pods = w.running(with_spares(4, 2));
  EXPECT_EQ(w.node_of(pods[3]), "n3");
  EXPECT_THAT(spares_of(w), IsEmpty());
  w.expect_sound();
}

TEST(GangSpares, AreAsManyAsThereIsRoomForAndMoreLater) {
  RepairWorld w(4);
  w.fill(3);
  w.running(with_spares(2, 2));
  EXPECT_THAT(spares_of(w), ElementsAre("n2"));
  ASSERT_TRUE(w.cluster.end({"ns", "filler-1"}).ok());
  w.scheduler.tick();
  EXPECT_THAT(spares_of(w), ElementsAre("n2")) << "it is not tried all the time";
  w.clock.advance(GangSpares::kRetry);
  w.keep_reporting();
  w.scheduler.tick();
  EXPECT_THAT(spares_of(w), ElementsAre("n2", "n3"));
  w.expect_sound();
}

TEST(GangSpares, StayInTheDomainThatIsRequired) {
  RepairWorld w(8, 2);
  w.running(with_spares(2, 1, kRack));
  EXPECT_THAT(spares_of(w), IsEmpty()) << "the rack is full";
  RepairWorld wide(8, 3);
  const auto pods = wide.running(with_spares(2, 1, kRack));
  EXPECT_EQ(wide.node_of(pods[0]), "n0")
      << "the last rack, of two nodes, has no room for the spare";
  EXPECT_THAT(spares_of(wide), ElementsAre("n2"));
}

TEST(GangSpares, ASpareThatFailsIsReplaced) {
  RepairWorld w(8);
  w.running(with_spares(3, 1));
  w.fail_node(3);
  w.scheduler.tick();
  EXPECT_THAT(spares_of(w), ElementsAre("n4"));
  w.set_health("n4", 2, domain::Health::unhealthy);
  w.scheduler.tick();
  EXPECT_THAT(spares_of(w), ElementsAre("n5"));
  w.set_ready("n5", false);
  w.scheduler.tick();
  EXPECT_THAT(spares_of(w), ElementsAre("n6"));
  w.expect_sound();
}

TEST(GangSpares, LastAsLongAsPodsOfTheGangRun) {
  RepairWorld w(8);
  const auto pods = w.running(with_spares(3, 1));
  w.clock.advance(2 * GangPlans::kLifetime);
  w.keep_reporting();
  w.scheduler.tick();
  EXPECT_THAT(spares_of(w), ElementsAre("n3"));
  for (const auto& pod : pods) ASSERT_TRUE(w.cluster.end(pod.key).ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
}

TEST(GangSpares, EndWithAPlanThatNobodyUses) {
  RepairWorld w(8);
  const auto kind = with_spares(2, 1);
  const auto first = w.member(kind, 0);
  w.member(kind, 1);
  w.fit(first);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 3U);
  w.clock.advance(GangPlans::kLifetime + std::chrono::seconds(1));
  w.keep_reporting();
  w.scheduler.tick();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
}

TEST(GangSpares, ANewLeaderKeepsThemAgain) {
  RepairWorld w(8);
  const auto kind = with_spares(3, 1);
  w.running(kind);
  w.scheduler.step_down();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
  w.fail_node(0);
  w.bind_planned(w.member(kind, 0, 1));
  w.scheduler.tick();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 1U);
  w.expect_sound();
}

TEST(GangSpares, WhatDoesNotFitLeavesThemAlone) {
  RepairWorld w(8);
  auto kind = with_spares(3, 1);
  kind.minimum = 3;
  kind.size = 3;
  w.running(kind);
  for (const int node : {4, 5, 6, 7}) w.fill(node);
  w.fail_node(0);
  w.fail_node(1);
  const auto first = w.member(kind, 0, 1);
  w.member(kind, 1, 1);
  EXPECT_THAT(w.fit(first), IsEmpty()) << "there is room for one of two";
  EXPECT_THAT(spares_of(w), ElementsAre("n3"));
  w.expect_sound();
}

}  // namespace
}  // namespace chipweave::sched::test
