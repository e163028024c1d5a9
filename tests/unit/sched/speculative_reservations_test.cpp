// kube-scheduler's own gangs: it evaluates all members, and then binds all or none of them.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;

class Speculation : public ::testing::Test {
 protected:
  void SetUp() override { w_.add_node("n1", "hgx-v100-8"); }
  PodRequest member(const std::string& name, int chips, const std::string& gang = "ns/train") {
    PodRequest a = World::request(name, chips);
    a.gang = gang;
    return w_.submit(a);
  }
  // With one node prioritize is not called.
  void request(const PodRequest& pod) { EXPECT_EQ(w_.fit(pod), std::set<std::string>{"n1"}); }
  void pass(milliseconds time) {
    w_.clock.advance(time);
    w_.scheduler.tick();
    w_.expect_sound();
  }
  World w_;
};

TEST_F(Speculation, KeepsItsReservationsWhileItLastsAndASecondMore) {
  const auto a = member("a", 2);
  const auto b = member("b", 2);
  const auto c = member("c", 2);
  request(a);
  pass(milliseconds(900));
  request(b);
  pass(milliseconds(900));
  request(c);
  pass(milliseconds(900));
  for (const auto& pod : {a, b, c}) EXPECT_EQ(w_.chips(pod).size(), 2U) << pod.key.name;
  pass(milliseconds(100));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 0U) << "the attempt was dropped";
}

TEST_F(Speculation, OthersDoNotProlongIt) {
  request(member("a", 2));
  pass(milliseconds(900));
  request(member("x", 2, "ns/other"));
  request(w_.submit("alone", 1));
  pass(milliseconds(100));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 2U);
  pass(milliseconds(900));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U) << "a reservation outside of gangs lives longer";
}

TEST_F(Speculation, GivesWayToAPodThatFitsNowhereElse) {
  const auto a = member("a", 4);
  const auto b = member("b", 2);
  request(a);
  request(b);
  request(w_.submit("small", 2));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 3U) << "that one fits next to it";
  EXPECT_TRUE(w_.fit(member("c", 4)).empty()) << "a member must not take it";
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 3U);
  request(member("x", 4, "ns/other"));
  EXPECT_EQ(w_.chips(a).size() + w_.chips(b).size(), 0U);
  request(w_.submit("large", 6));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 2U) << "small, large";
  EXPECT_TRUE(w_.fit(a).empty()) << "reservations for others stay";
  EXPECT_FALSE(w_.bind(a, "n1").ok());
  w_.expect_sound();
}

// The address sanitizer fails this if the evaluation keeps what the job held before.
TEST_F(Speculation, GivesWayToAPodOfTheSameJobOutsideOfTheGang) {
  PodRequest a = World::request("a", 4);
  a.gang = "ns/train";
  a.job = "ns/job";
  request(w_.submit(a));
  PodRequest large = World::request("large", 6);
  large.job = "ns/job";
  large = w_.submit(large);
  request(large);
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U);
  EXPECT_EQ(w_.chips(large).size(), 6U);
  w_.expect_sound();
}

TEST_F(Speculation, BeginsAgainWithAMemberThatWasEvaluatedBefore) {
  const auto a = member("a", 4);
  const auto b = member("b", 4);
  const auto c = member("c", 4);
  request(a);
  request(b);
  EXPECT_TRUE(w_.fit(c).empty());
  pass(milliseconds(10));
  request(b);  // in another order, as after a change of priorities
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U) << "reservations of the earlier attempt are gone";
  request(a);
  request(a);
  w_.scores(a);
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 2U) << "an immediate repetition is the same attempt";
  EXPECT_EQ(w_.chips(b).size(), 4U);
}

TEST_F(Speculation, IsBoundAlsoWhenTheBindingsComeLate) {
  const auto a = member("a", 4);
  const auto b = member("b", 4);
  request(a);
  request(b);
  ASSERT_TRUE(w_.bind(a, "n1").ok());
  pass(milliseconds(5000));
  ASSERT_TRUE(w_.bind(b, "n1").ok());
  EXPECT_EQ(w_.chips(a).size(), 4U);
  EXPECT_EQ(w_.chips(b).size(), 4U);
  w_.expect_sound();
}

TEST_F(Speculation, LastsNoLongerThanAnyReservation) {
  World w;
  Scheduler hasty(w.clock, w.cluster, w.observer, {milliseconds(200), std::chrono::hours(1)});
  w.cluster.set_listener(&hasty.reconciler());
  InventoryReport r;
  r.node = "n1";
  r.boot_id = "boot";
  r.sequence = 1;
  r.topology = profile("hgx-v100-8");
  hasty.report(std::move(r));
  PodRequest a = World::request("a", 2);
  a.gang = "ns/train";
  a = w.submit(a);
  const std::vector<std::string_view> names{"n1"};
  (void)hasty.extender().filter(a, names);
  EXPECT_EQ(hasty.ledger().reserved(), 1U);
  w.clock.advance(milliseconds(200));
  hasty.tick();
  EXPECT_EQ(hasty.ledger().reserved(), 0U);
}

// A gRPC caller releases its reservation itself.
TEST_F(Speculation, DoesNotApplyToPlace) {
  const auto a = member("a", 2);
  const std::vector<std::string_view> names{"n1"};
  ASSERT_TRUE(w_.scheduler.placements().place(a, names, true).ok());
  pass(milliseconds(5000));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U);
}

TEST_F(Speculation, ItsMembersAreOneJobUnlessALabelNamesIt) {
  PodRequest a = World::request("a", 2);
  a.gang = "ns/train";
  EXPECT_EQ(job_identity(a), "ns/train");
  a.labels["volcano.sh/job-name"] = "mnist";
  EXPECT_NE(job_identity(a), "ns/train");
}

}  // namespace
}  // namespace chipweave::sched::test
