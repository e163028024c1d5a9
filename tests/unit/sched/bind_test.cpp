#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

TEST(Bind, IsIdempotentForTheSameUidAndNode) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "hgx-h100-8");
  const auto a = w.submit("p", 4);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  const auto chips = w.chips(a);
  const auto written = w.cluster.written(a.key);
  EXPECT_TRUE(w.bind(a, "n1").ok());
  EXPECT_EQ(w.chips(a), chips);
  EXPECT_EQ(w.cluster.written(a.key), written);
  const auto other = w.bind(a, "n2");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Errc::conflict);
  EXPECT_NE(other.error().message.find("n1"), std::string::npos);
  auto imposter = a;
  imposter.uid = "another";
  EXPECT_EQ(w.bind(imposter, "n1").error().code, Errc::conflict);
}

TEST(Bind, ErrorsAreSentences) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  EXPECT_EQ(w.bind(World::request("ghost", 1), "n1").error().code, Errc::not_found);
  const auto a = w.submit("p", 4);
  const auto unknown = w.bind(a, "n9");
  EXPECT_NE(unknown.error().message.find("inventory not received"), std::string::npos);
  const auto big = w.submit("big", 8);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  const auto full = w.bind(big, "n1");
  EXPECT_NE(full.error().message.find("no longer fits"), std::string::npos);
  EXPECT_TRUE(w.chips(big).empty());
  w.expect_sound();
}

TEST(Bind, OnAnotherNodeThanReservedChoosesThereAndFreesTheReservation) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "hgx-h100-8");
  const auto a = w.submit("p", 4);
  EXPECT_EQ(w.fit(a).size(), 2U);
  w.scores(a);
  EXPECT_EQ(w.node_of(a), "n1");
  ASSERT_TRUE(w.bind(a, "n2").ok());
  EXPECT_EQ(w.node_of(a), "n2");
  EXPECT_EQ(w.scheduler.nodes().node(w.scheduler.nodes().find("n1")).free().size(), 8);
  w.expect_sound();
}

TEST(Reservation, IsHeldByPrioritizeAndWithheldFromOthers) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "hgx-h100-8");
  const auto a = w.submit("a", 8);
  const auto b = w.submit("b", 8);
  w.fit(a);
  EXPECT_TRUE(w.chips(a).empty());  // two nodes fit: prioritize will reserve
  w.scores(a);
  EXPECT_EQ(w.chips(a).size(), 8U);
  EXPECT_EQ(w.fit(b), std::set<std::string>{"n2"});
  EXPECT_EQ(w.chips(b).size(), 8U);  // the only node: held at once
  EXPECT_TRUE(w.fit(World::request("c", 1)).empty());
  w.expect_sound();
}

TEST(Reservation, EndsWithItsLifetime) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  const auto a = w.submit("a", 8);
  w.fit(a);
  ASSERT_EQ(w.chips(a).size(), 8U);
  w.clock.advance(limits::kReservationTtl - std::chrono::milliseconds(1));
  w.scheduler.tick();
  EXPECT_EQ(w.chips(a).size(), 8U);
  w.clock.advance(std::chrono::milliseconds(2));
  w.scheduler.tick();
  EXPECT_TRUE(w.chips(a).empty());
  w.scheduler.heartbeat("n1", "boot");
  EXPECT_EQ(w.fit(World::request("b", 8)).size(), 1U);
}

TEST(Reservation, IsOverwrittenByTheNextFilterOfTheSamePod) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "hgx-h100-8");
  const auto a = w.submit("a", 8);
  w.scores(a);
  ASSERT_EQ(w.node_of(a), "n1");
  const std::vector<std::string_view> only{"n2"};
  (void)w.scheduler.extender().filter(a, only);
  EXPECT_EQ(w.node_of(a), "n2");
  w.expect_sound();
}

TEST(Reservation, IsNotHeldForPodsTheClusterDoesNotHaveWithThatUid) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  const auto unknown = World::request("unknown", 8);
  EXPECT_EQ(w.fit(unknown).size(), 1U);
  EXPECT_EQ(w.scores(unknown).at("n1"), 10);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  auto old = w.submit("p", 8);
  old.uid = "uid-of-the-one-before";
  w.fit(old);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  auto place = w.scheduler.placements().place(unknown, {}, true);
  EXPECT_EQ(place.error().code, Errc::not_found);
  EXPECT_EQ(w.scheduler.placements().place(unknown, {}, false).value().chips.size(), 8U);
}

TEST(Reservation, ThatTurnedUnhealthyIsChosenAnewAtBind) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  const auto a = w.submit("a", 2);
  w.fit(a);
  const auto reserved = w.chips(a);
  ASSERT_EQ(reserved.size(), 2U);
  w.set_health("n1", reserved[0], domain::Health::unhealthy);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  for (const int chip : w.chips(a)) EXPECT_NE(chip, reserved[0]);
  w.expect_sound();
}

TEST(Pods, EndGivesTheChipsBack) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  const auto a = w.submit("a", 8);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  EXPECT_TRUE(w.fit(World::request("b", 1)).empty());
  ASSERT_TRUE(w.cluster.end(a.key).ok());
  EXPECT_EQ(w.fit(World::request("b", 8)).size(), 1U);
  w.expect_sound();
  const auto c = w.submit("c", 8);
  w.fit(c);
  EXPECT_EQ(w.scheduler.placements().release(c.key, "other").error().code, Errc::conflict);
  ASSERT_TRUE(w.scheduler.placements().release(c.key, c.uid).ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
}

TEST(Pods, AUsedChipThatTurnsUnhealthyStaysWithItsPodUntilThatIsGone) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  const auto a = w.submit("a", 8);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  w.set_health("n1", 2, domain::Health::unhealthy);
  EXPECT_EQ(w.chips(a).size(), 8U);
  w.expect_sound();
  ASSERT_TRUE(w.cluster.end(a.key).ok());
  EXPECT_EQ(w.scheduler.nodes().node(0).free().size(), 7);
}

TEST(MemoryCluster, ChecksNamesUidsAndDoubles) {
  MemoryCluster cluster;
  const auto add = [&](const std::string& name, const std::string& uid,
                       const std::string& ns = "ns") {
    ClusterPod pod;
    pod.request.key = {ns, name};
    pod.request.uid = uid;
    return cluster.add(pod, "{}");
  };
  for (const char* bad : {"", "A", "a_b", "-a", "a-", "a..b", ".a", "a/b", "a b"}) {
    EXPECT_FALSE(add(bad, "").ok()) << bad;
  }
  EXPECT_FALSE(add(std::string(254, 'a'), "").ok());
  EXPECT_FALSE(add("a", "", "a.b").ok());
  ASSERT_TRUE(add("a-1.b", "u1").ok());
  EXPECT_EQ(add("a-1.b", "u2").error().code, Errc::conflict);
  EXPECT_EQ(add("other", "u1").error().code, Errc::conflict);
  auto made = add("made", "", "");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->request.uid.size(), 36U);
  EXPECT_EQ((*made)->request.key.ns, "default");
}

TEST(Inventory, TakesTheNewestReportOnly) {
  World w;
  EXPECT_EQ(w.set_health("n1", 0, domain::Health::unhealthy), ReportOutcome::needs_full);
  EXPECT_EQ(w.add_node("n1", "hgx-h100-8"), ReportOutcome::taken);
  w.sequence = 1;
  EXPECT_EQ(w.add_node("n1", "hgx-h100-8"), ReportOutcome::older);
  w.sequence = 10;
  EXPECT_EQ(w.add_node("n1", "hgx-h100-8", {}, "boot2"), ReportOutcome::taken);
  EXPECT_EQ(w.add_node("n1", "hgx-h100-8", {}, "boot"),
            ReportOutcome::older);  // from the previous boot
  EXPECT_EQ(w.set_health("n1", 0, domain::Health::unhealthy), ReportOutcome::older);
}

TEST(Inventory, LinkHealthChangesWhatIsChosen) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto before = w.scheduler.placements().place(World::request("p", 2), {}, false).value();
  InventoryReport r;
  r.node = "n1";
  r.boot_id = "boot";
  r.sequence = ++w.sequence;
  r.links = {{{before.chips[0]}, {before.chips[1]}, 2}};
  ASSERT_EQ(w.scheduler.report(r), ReportOutcome::taken);
  const auto after = w.scheduler.placements().place(World::request("p", 2), {}, false).value();
  EXPECT_NE(after.chips, before.chips);
  r.sequence = ++w.sequence;
  r.links[0].lanes_down = 0;
  ASSERT_EQ(w.scheduler.report(r), ReportOutcome::taken);
  EXPECT_EQ(w.scheduler.placements().place(World::request("p", 2), {}, false).value().chips,
            before.chips);
}

TEST(Inventory, ChipsThatVanishAndComeBackStayTheirPods) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto pod = w.submit("p", 8);
  ASSERT_TRUE(w.bind(pod, "n1").ok());
  w.add_node("n1", "hgx-a100-4");  // four chips are not reported
  w.expect_sound();
  EXPECT_TRUE(w.scheduler.placements().explain(pod.key).ok());
  EXPECT_EQ(w.chips(pod), (std::vector<int>{0, 1, 2, 3}));
  w.add_node("n1", "hgx-v100-8");
  w.expect_sound();
  EXPECT_EQ(w.chips(pod).size(), 8U);
  const auto other = w.submit("q", 1);
  EXPECT_TRUE(w.fit(other).empty());
  EXPECT_FALSE(w.bind(other, "n1").ok());
  EXPECT_TRUE(w.scheduler.placements().explain(pod.key).ok());
}

TEST(Inventory, AReservationThatLostAChipIsNotBound) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto first = w.submit("p", 4);
  ASSERT_TRUE(w.bind(first, "n1").ok());
  const auto second = w.submit("q", 4);
  w.scores(second);
  ASSERT_EQ(w.chips(second).size(), 4U);
  w.add_node("n1", "hgx-a100-4");
  EXPECT_TRUE(w.chips(second).empty());
  EXPECT_FALSE(w.bind(second, "n1").ok());
  w.expect_sound();
}

TEST(Inventory, OfTwoAgentsWithOneNameTheOneThatIsLeftSpeaks) {
  World w;
  w.add_node("n1", "hgx-h100-8", {}, "a");
  w.add_node("n1", "hgx-h100-8", {}, "b");
  EXPECT_EQ(w.add_node("n1", "hgx-h100-8", {}, "a"), ReportOutcome::older);
  w.scheduler.agent_gone("n1", "b");
  EXPECT_EQ(w.add_node("n1", "hgx-h100-8", {}, "a"), ReportOutcome::taken);
  EXPECT_FALSE(w.scheduler.nodes().node(0).stale);
}

TEST(Inventory, ADeltaIsTakenWholeOrNotAtAll) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  InventoryReport r;
  r.node = "n1";
  r.boot_id = "boot";
  r.sequence = ++w.sequence;
  r.chips = {{{2}, domain::Health::unhealthy}, {{99}, domain::Health::unhealthy}};
  EXPECT_EQ(w.scheduler.report(r), ReportOutcome::needs_full);
  EXPECT_TRUE(w.scheduler.nodes().node(0).unhealthy.empty());
}

TEST(Inventory, AFullTableReplacesStaleNodesWithoutPods) {
  World w;
  w.fill_table("hgx-v100-8");
  InventoryReport r;
  r.boot_id = "boot";
  r.topology = profile("hgx-v100-8");
  r.node = "new";
  r.sequence = ++w.sequence;
  EXPECT_EQ(w.scheduler.report(r), ReportOutcome::no_room);
  const auto pod = w.submit("p", 1);
  ASSERT_TRUE(w.bind(pod, "n7").ok());
  w.scheduler.agent_gone("n7", "boot");
  EXPECT_EQ(w.scheduler.report(r), ReportOutcome::no_room);  // n7 has a pod
  w.scheduler.agent_gone("n8", "boot");
  EXPECT_EQ(w.scheduler.report(r), ReportOutcome::taken);
  EXPECT_EQ(w.scheduler.nodes().find("n8"), kNoNode);
  const auto id = w.scheduler.nodes().find("new");
  ASSERT_NE(id, kNoNode);
  const std::vector<std::string_view> names{"n7", "new", "n8", "n9"};
  EXPECT_EQ(fitting(w.scheduler, w.submit("q", 8), names),
            (std::vector<std::string_view>{"new", "n9"}));
}

TEST(Inventory, ANodeWhosePodsLostAllTheirChipsIsNotGivenAway) {
  World w;
  w.fill_table("hgx-a100-4");
  InventoryReport r;
  r.boot_id = "boot";
  r.topology = profile("hgx-a100-4");
  w.add_node("n7", "hgx-v100-8");
  ASSERT_TRUE(w.bind(w.submit("low", 4), "n7").ok());
  const auto high = w.submit("high", 4);
  ASSERT_TRUE(w.bind(high, "n7").ok());
  ASSERT_TRUE(w.cluster.end({"ns", "low"}).ok());
  w.add_node("n7", "hgx-a100-4");  // all chips of the second are gone
  ASSERT_TRUE(w.chips(high).empty());
  w.scheduler.agent_gone("n7", "boot");
  r.node = "new";
  r.sequence = ++w.sequence;
  EXPECT_EQ(w.scheduler.report(r), ReportOutcome::no_room);
  w.add_node("n7", "hgx-v100-8");
  EXPECT_EQ(w.chips(high).size(), 4U);
  w.expect_sound();
}

TEST(Bind, ThePodsRequestComesFromTheClusterNotTheCaller) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  auto pod = w.submit("p", 1);
  PodRequest claimed = pod;
  claimed.chips = 8;
  EXPECT_EQ(w.fit(claimed), std::set<std::string>{"n1"});
  EXPECT_EQ(w.chips(pod).size(), 1U);
  ASSERT_TRUE(w.bind(pod, "n1").ok());
  EXPECT_EQ(w.chips(pod).size(), 1U);
  auto zero = w.submit("z", 0);
  claimed = zero;
  claimed.chips = 4;
  claimed.resource = "nvidia.com/gpu";
  EXPECT_TRUE(w.scheduler.placements().place(claimed, {}, true).ok() == false ||
              w.chips(zero).empty());
  EXPECT_TRUE(w.chips(zero).empty());
  w.expect_sound();
}

TEST(Bind, UidsAreWordsSoThatTheyAreNoNamesOfOurs) {
  World w;
  for (const char* uid : {"\nns/g#1", "a b", "group:ns/g#1", "u/1"}) {
    PodRequest a = World::request("p", 1);
    a.uid = uid;
    ClusterPod pod;
    pod.request = a;
    EXPECT_EQ(w.cluster.add(pod, "{}").ok(), false) << uid;
  }
}

}  // namespace
}  // namespace chipweave::sched::test
