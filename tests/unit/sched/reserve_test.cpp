// Reserve: chips on exactly one node, for other schedulers; and the answers while the scheduler is
// not ready.
#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::seconds;

TEST(Reserve, TakesTheBestSetOfThatNodeAndNoOther) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  const auto a = w.submit("a", 2);
  const auto got = w.scheduler.placements().reserve(a, "n2");
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->node, "n2");
  const std::vector<std::string_view> other = {"n1"};
  EXPECT_EQ(got->chips, w.scheduler.placements().what_if(World::request("x", 2), other)->chips);
  EXPECT_GT(got->gbps, 0);
  EXPECT_EQ(got->gbps, got->best_gbps);
  EXPECT_EQ(got->lifetime, seconds(30));
  EXPECT_EQ(w.chips(a), got->chips);
  EXPECT_EQ(w.node_of(a), "n2");
  ASSERT_TRUE(w.bind(a, "n2").ok());
  EXPECT_EQ(w.chips(a), got->chips);
  w.expect_sound();
}

TEST(Reserve, AgainOnTheSameNodeKeepsTheChipsForANewLifetime) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto other = w.submit("other", 1);
  ASSERT_TRUE(w.bind(other, "n1").ok());
  const auto a = w.submit("a", 2);
  const auto first = w.scheduler.placements().reserve(a, "n1").value();
  ASSERT_TRUE(w.cluster.end(other.key).ok());  // room for another choice
  w.clock.advance(seconds(20));
  w.scheduler.heartbeat("n1", "boot");
  const auto again = w.scheduler.placements().reserve(a, "n1").value();
  EXPECT_EQ(again.chips, first.chips);
  EXPECT_EQ(again.gbps, first.gbps);
  EXPECT_EQ(again.best_gbps, first.best_gbps);
  EXPECT_EQ(again.lifetime, seconds(30));
  w.clock.advance(seconds(20));
  w.scheduler.tick();
  EXPECT_EQ(w.chips(a), first.chips);
  w.clock.advance(seconds(11));
  w.scheduler.tick();
  EXPECT_TRUE(w.chips(a).empty());
}

TEST(Reserve, WhatPodsOfAJobGiveTogetherIsNeverAboveTheBest) {
  World w;
  w.add_node("n1", "ascend-910a-8", {"huawei.com/Ascend910"});
  const auto submit = [&w](const char* name, int chips) {
    PodRequest pod = World::request(name, chips, "huawei.com/Ascend910");
    pod.labels["volcano.sh/job-name"] = "job";
    return w.submit(pod);
  };
  const auto two = submit("two", 2);
  const auto one = submit("one", 1);  // three chips together: no pod may have that many
  ASSERT_TRUE(w.scheduler.placements().reserve(two, "n1").ok());
  const auto first = w.scheduler.placements().reserve(one, "n1").value();
  const auto again = w.scheduler.placements().reserve(one, "n1").value();
  EXPECT_GT(again.gbps, 0);
  EXPECT_EQ(again.gbps, first.gbps);
  EXPECT_EQ(again.best_gbps, first.best_gbps);
  EXPECT_GE(again.best_gbps, again.gbps);
}

TEST(Reserve, OnAnotherNodeGivesTheFirstBack) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  const auto a = w.submit("a", 8);
  ASSERT_TRUE(w.scheduler.placements().reserve(a, "n1").ok());
  ASSERT_TRUE(w.scheduler.placements().reserve(a, "n2").ok());
  EXPECT_EQ(w.node_of(a), "n2");
  EXPECT_EQ(w.fit(World::request("b", 8)), std::set<std::string>{"n1"});
  ASSERT_TRUE(w.scheduler.placements().release(a.key, a.uid).ok());
  EXPECT_EQ(w.fit(World::request("b", 8)).size(), 2U);
}

TEST(Reserve, ChoosesAgainWhenAChipBecameUnhealthy) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit("a", 2);
  const int broken = w.scheduler.placements().reserve(a, "n1")->chips[0];
  w.set_health("n1", broken, domain::Health::unhealthy);
  const auto got = w.scheduler.placements().reserve(a, "n1").value();
  EXPECT_EQ(std::count(got.chips.begin(), got.chips.end(), broken), 0);
  EXPECT_EQ(w.chips(a), got.chips);
  w.expect_sound();
}

TEST(Reserve, OfAGroupKeepsTheWholePlan) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  const auto member = [&](const std::string& name) {
    PodRequest a = World::request(name, 1);
    a.group = GroupRef{"train", 2};
    return w.submit(a);
  };
  const auto a = member("w-0");
  const auto b = member("w-1");
  const auto first = w.scheduler.placements().reserve(a, "n2").value();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 2U);
  w.clock.advance(seconds(20));
  w.scheduler.heartbeat("n2", "boot");
  EXPECT_EQ(w.scheduler.placements().reserve(a, "n2")->chips, first.chips);
  w.clock.advance(seconds(20));
  w.scheduler.heartbeat("n2", "boot");
  const auto second = w.scheduler.placements().reserve(b, "n2").value();
  EXPECT_EQ(second.gbps, first.gbps);
  EXPECT_NE(second.chips, first.chips);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 2U);
  w.expect_sound();
}

TEST(Reserve, ErrorsSayWhatStandsInTheWay) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "pcie-8", {"example.com/npu"});
  const auto a = w.submit("a", 2);
  const auto error = [&](const PodRequest& request, const std::string& node) {
    const auto got = w.scheduler.placements().reserve(request, node);
    return got ? Error{} : got.error();
  };
  EXPECT_EQ(error(World::request("ghost", 1), "n1").code, Errc::not_found);
  EXPECT_EQ(error(a, "n3").code, Errc::not_found);
  EXPECT_EQ(error(a, "n2").code, Errc::not_found);  // it has none of these
  PodRequest imposter = a;
  imposter.uid = "another";
  EXPECT_EQ(error(imposter, "n1").code, Errc::conflict);
  const auto big = w.submit("big", 8);
  ASSERT_TRUE(w.scheduler.placements().reserve(a, "n1").ok());
  const Error full = error(big, "n1");
  EXPECT_EQ(full.code, Errc::conflict);
  EXPECT_NE(full.message.find("not enough free chips"), std::string::npos) << full.message;
  ASSERT_TRUE(w.bind(a, "n1").ok());
  EXPECT_EQ(error(a, "n1").code, Errc::conflict);
  EXPECT_NE(error(a, "n1").message.find("already bound to node n1"), std::string::npos);
  PodRequest nothing = w.submit("nothing", 0);
  nothing.chips = 2;
  EXPECT_EQ(error(nothing, "n1").code, Errc::conflict);
  ClusterPod half;
  half.request = World::request("half", 1);
  half.refused = "500m of a chip cannot be given";
  ASSERT_TRUE(w.cluster.add(half, "{}").ok());
  EXPECT_EQ(error(half.request, "n1").code, Errc::conflict);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
}

TEST(Reserve, WhatPlaceHoldsSaysForHowLong) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit("a", 2);
  EXPECT_EQ(w.scheduler.placements().place(a, {}, false)->lifetime, seconds(0));
  EXPECT_EQ(w.scheduler.placements().place(a, {}, true)->lifetime, seconds(30));
  PodRequest imposter = a;
  imposter.uid = "another";
  EXPECT_EQ(w.scheduler.placements().place(imposter, {}, true).error().code, Errc::conflict);
}

TEST(Waiting, WhatIsKnownCanBeReadAndNothingTaken) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit("a", 2);
  const auto b = w.submit("b", 2);
  ASSERT_TRUE(w.bind(b, "n1").ok());
  const auto listed = [&](std::string& uid) {
    return w.scheduler.placements().placed_pods(
        "", 10, [&](const PlacedPod& pod) { uid = pod.placement.uid; });
  };
  class Standby final : public Leadership {
   public:
    std::string standby() const override { return "waiting for its turn"; }
    std::uint64_t term() const override { return 0; }
  } standby;
  for (const bool known : {false, true}) {
    w.scheduler.authority().set_waiting_for(known ? "" : "waiting for its turn");
    w.scheduler.authority().set_leadership(known ? &standby : nullptr);
    for (const auto& code :
         {w.scheduler.placements().place(a, {}, false).error(),
          w.scheduler.placements().place(a, {}, true).error(),
          w.scheduler.placements().reserve(a, "n1").error(),
          w.scheduler.placements().release(a.key, a.uid).error(), w.bind(a, "n1").error()}) {
      EXPECT_EQ(code.code, Errc::unavailable);
      EXPECT_EQ(code.message, "waiting for its turn");
    }
    std::string uid;
    EXPECT_EQ(w.scheduler.placements().explain(a.key).ok(), known);
    EXPECT_EQ(w.scheduler.placements().what_if(a, {}).ok(), known);
    EXPECT_EQ(listed(uid).ok(), known);
    EXPECT_EQ(uid, known ? b.uid : "");
  }
  w.scheduler.authority().set_leadership(nullptr);
  EXPECT_TRUE(w.scheduler.placements().reserve(a, "n1").ok());
}

}  // namespace
}  // namespace chipweave::sched::test
