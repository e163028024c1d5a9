#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

TEST(Filter, RejectsAnUnknownNodeWithAReasonAndKeepsTheOthers) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.names.insert("ghost");
  const auto a = World::request("p", 2);
  EXPECT_EQ(w.fit(a), std::set<std::string>{"n1"});
  EXPECT_EQ(w.rejections(a).at("ghost"), "inventory not received");
}

// A node of ACK: the kubelet counts them apart, but they are the same chips.
TEST(Filter, CountsTheChipsOfTwoResourcesOnce) {
  World w;
  w.add_node("n1", "hgx-v100-8", {"nvidia.com/gpu", "aliyun.com/gpu"});
  std::set<int> used;
  for (int i = 0; i < 4; ++i) {
    const auto pod = w.submit(World::request("p-" + std::to_string(i), 2,
                                             i % 2 == 0 ? "nvidia.com/gpu" : "aliyun.com/gpu"));
    EXPECT_EQ(w.fit(pod), std::set<std::string>{"n1"});
    ASSERT_TRUE(w.bind(pod, "n1").ok());
    for (const int chip : w.chips(pod)) EXPECT_TRUE(used.insert(chip).second) << chip;
  }
  EXPECT_EQ(used.size(), 8U);
  for (const char* resource : {"nvidia.com/gpu", "aliyun.com/gpu"}) {
    EXPECT_EQ(w.rejections(World::request("late", 1, resource)).at("n1"), "not enough free chips");
  }
  w.expect_sound();
}

TEST(Filter, GivesTheSameReasonForTheSameCauseOnDifferentNodes) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-h100-8");
  for (const char* node : {"n1", "n2"}) {
    const auto a = w.submit(std::string("filler-") + node, 7);
    ASSERT_TRUE(w.bind(a, node).ok());
  }
  const auto why = w.rejections(World::request("p", 2));
  EXPECT_EQ(why.at("n1"), "not enough free chips");
  EXPECT_EQ(why.at("n1"), why.at("n2"));
}

// Preemption on a node is in vain unless pods are what is in the way.
TEST(Filter, TellsWhatWouldHelp) {
  World w;
  for (const char* name : {"busy", "unhealthy", "stale"}) w.add_node(name, "hgx-h100-8");
  ASSERT_TRUE(w.bind(w.submit("filler", 4), "busy").ok());
  w.set_health("unhealthy", 3, domain::Health::unhealthy);
  w.scheduler.agent_gone("stale", "boot");
  const auto remedy = [&](const PodRequest& pod, std::string_view node) {
    return w.scheduler.extender().filter(pod, {&node, 1}).of(0).remedy;
  };
  const auto all = World::request("all", 8);
  EXPECT_EQ(remedy(all, "busy"), Remedy::preemption);
  EXPECT_EQ(remedy(all, "unhealthy"), Remedy::time);
  EXPECT_EQ(remedy(all, "stale"), Remedy::time);
  EXPECT_EQ(remedy(all, "nowhere"), Remedy::time);
  EXPECT_EQ(remedy(World::request("more", 9), "busy"), Remedy::unresolvable);
  EXPECT_EQ(remedy(World::request("npu", 1, "huawei.com/Ascend910"), "busy"), Remedy::unresolvable);
  auto member = w.submit([] {
    PodRequest pod = World::request("member", 4);
    pod.group = GroupRef{"g", 2};
    return pod;
  }());
  EXPECT_EQ(remedy(member, "busy"), Remedy::preemption);
  EXPECT_EQ(remedy(member, "unhealthy"), Remedy::time);
  member.group->replicas = 3;
  member.uid = "another";
  EXPECT_EQ(remedy(member, "busy"), Remedy::unresolvable);
}

TEST(Filter, DistinguishesMachinesThatAreTooSmallFromBusyOnes) {
  World w;
  w.add_node("n1", "ascend-910a-8");
  const std::vector<std::string_view> names{"n1"};
  const Evaluation& five =
      w.scheduler.extender().filter(World::request("p", 5, "huawei.com/Ascend910"), names);
  EXPECT_EQ(five.of(0).cause, Cause::size);
  EXPECT_EQ(five.of(0).remedy, Remedy::unresolvable);
  EXPECT_NE(five.of(0).reason.find("1, 2, 4, 8"), std::string::npos) << five.of(0).reason;
  const Evaluation& nine =
      w.scheduler.extender().filter(World::request("p", 9, "huawei.com/Ascend910"), names);
  EXPECT_EQ(nine.of(0).remedy, Remedy::unresolvable);
  const auto filler = w.submit("filler", 8, "huawei.com/Ascend910");
  ASSERT_TRUE(w.bind(filler, "n1").ok());
  const Evaluation& busy =
      w.scheduler.extender().filter(World::request("p", 4, "huawei.com/Ascend910"), names);
  EXPECT_EQ(busy.of(0).cause, Cause::busy);
  EXPECT_EQ(busy.of(0).remedy, Remedy::preemption);
}

TEST(Filter, KnowsThatTwoFreeChipsOfTwoRingsAreNoPair) {
  World w;
  w.add_node("n1", "ascend-910a-8");
  for (const int chip : {1, 2, 3, 5, 6, 7}) w.set_health("n1", chip, domain::Health::unhealthy);
  const auto why = w.rejections(World::request("p", 2, "huawei.com/Ascend910"));
  EXPECT_EQ(why.at("n1"), "not enough healthy chips");
}

TEST(Filter, NeverOffersAnUnhealthyChip) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.set_health("n1", 3, domain::Health::unhealthy);
  EXPECT_TRUE(w.fit(World::request("p", 8)).empty());
  const auto a = w.submit("p7", 7);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  EXPECT_EQ(w.chips(a), (std::vector<int>{0, 1, 2, 4, 5, 6, 7}));
  w.expect_sound();
}

TEST(Filter, AvoidsUnhealthyNetworkPortsOnlyForDistributedPods) {
  World w;
  w.add_node("n1", "ascend-910b-8");
  w.set_health("n1", 3, domain::Health::network_unhealthy);
  auto a = World::request("p", 8, "huawei.com/Ascend910");
  EXPECT_EQ(w.fit(a).size(), 1U);
  a.distributed = true;
  EXPECT_TRUE(w.fit(a).empty());
}

TEST(Filter, PodsWithoutChipsFitEverywhereAndKeepOffFreeChips) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "hgx-h100-8");
  const auto busy = w.submit("busy", 8);
  ASSERT_TRUE(w.fit(busy).contains("n1"));
  ASSERT_TRUE(w.bind(busy, "n1").ok());
  w.names.insert("ghost");
  const auto a = w.submit("p", 0);
  EXPECT_EQ(w.fit(a).size(), 3U);
  const auto scores = w.scores(a);
  EXPECT_EQ(scores.at("n1"), 9);
  EXPECT_EQ(scores.at("n2"), 1);
  EXPECT_EQ(scores.at("ghost"), 9);
  ASSERT_TRUE(w.bind(a, "ghost").ok());
  EXPECT_TRUE(w.cluster.written(a.key).empty());
}

TEST(Filter, RejectsMachinesWithoutTheResource) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "ascend-910b-8");
  EXPECT_EQ(w.fit(World::request("p", 1)), std::set<std::string>{"n1"});
  EXPECT_EQ(w.rejections(World::request("p", 1)).at("n2"), "the node has no nvidia.com/gpu");
  EXPECT_EQ(w.fit(World::request("p", 1, "huawei.com/Ascend910")), std::set<std::string>{"n2"});
}

TEST(Filter, PlacesNothingOnAStaleNode) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.clock.advance(limits::kInventoryStaleAfter + std::chrono::seconds(1));
  w.scheduler.tick();
  EXPECT_EQ(w.rejections(World::request("p", 1)).at("n1"),
            "inventory is stale: the node's agent is not reporting");
  w.scheduler.heartbeat("n1", "other boot");
  EXPECT_TRUE(w.fit(World::request("p", 1)).empty());
  w.scheduler.heartbeat("n1", "boot");
  EXPECT_EQ(w.fit(World::request("p", 1)).size(), 1U);
}

TEST(Filter, PlacesNothingOnANodeWhoseDevicePluginIsNotReady) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "hgx-h100-8");
  w.set_gate("n1", false);
  EXPECT_EQ(w.fit(World::request("p", 1)), std::set<std::string>{"n2"});
  EXPECT_EQ(w.rejections(World::request("p", 1)).at("n1"),
            "the node is closed for pods with chips: its device plugin is not ready");
  const auto gains = w.scheduler.gains();
  w.set_gate("n1", true);
  EXPECT_EQ(w.fit(World::request("p", 1)).size(), 2U);
  EXPECT_GT(w.scheduler.gains(), gains) << "pods that found no node are tried again";
}

TEST(Filter, AGateThatIsNotReportedIsClosed) {
  World w;
  InventoryReport r;
  r.node = "n1";
  r.boot_id = "boot";
  r.sequence = 1;
  r.topology = profile("hgx-h100-8");
  r.enforcement = domain::Enforcement::device_plugin;
  ASSERT_EQ(w.scheduler.report(r), ReportOutcome::taken);
  w.names.insert("n1");
  EXPECT_TRUE(w.fit(World::request("p", 1)).empty());
}

TEST(Prioritize, BestAloneGetsTenAndTheOthersLess) {
  World w;
  for (const char* n : {"n1", "n2", "n3", "n10"}) w.add_node(n, "hgx-h100-8");
  const auto s = w.scores(World::request("p", 4));
  EXPECT_EQ(s.at("n1"), 10);  // equal nodes: the first by natural order
  for (const char* n : {"n2", "n3", "n10"}) {
    EXPECT_LT(s.at(n), 10);
    EXPECT_GE(s.at(n), 0);
  }
}

TEST(Prioritize, NaturalOrderPutsN2BeforeN10) {
  World w;
  w.add_node("n10", "hgx-h100-8");
  w.add_node("n2", "hgx-h100-8");
  EXPECT_EQ(w.scores(World::request("p", 4)).at("n2"), 10);
}

TEST(Prioritize, PrefersTheFasterMachineForSeveralChipsAndTheFullerOneForOne) {
  World w;
  w.add_node("fast", "hgx-h100-8");
  w.add_node("slow", "pcie-8");
  const auto s = w.scores(World::request("p", 4));
  EXPECT_EQ(s.at("fast"), 10);
  EXPECT_LT(s.at("slow"), 5);
  const auto filler = w.submit("filler", 5);
  ASSERT_TRUE(w.bind(filler, "slow").ok());
  EXPECT_EQ(w.scores(World::request("q", 1)).at("slow"), 10);
}

TEST(Prioritize, GivesNothingToNodesThatDoNotFit) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "hgx-a100-4");
  EXPECT_EQ(w.scores(World::request("p", 8)).at("n2"), 0);
}

TEST(Siblings, OfOneJobGetTheBestUnion) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  auto first = World::request("w-0", 2);
  auto second = World::request("w-1", 2);
  for (auto* a : {&first, &second}) {
    a->labels["volcano.sh/job-name"] = "job";
    w.submit(*a);
  }
  ASSERT_TRUE(w.bind(first, "n1").ok());
  ASSERT_TRUE(w.bind(second, "n1").ok());
  // the union is what the machine would give a single pod of 4 chips
  auto machine = solver::Machine(profile("hgx-v100-8"));
  ChipSet both;
  for (const auto* a : {&first, &second}) both |= w.scheduler.ledger().find(a->uid)->chips;
  ChipSet had = w.scheduler.ledger().find(first.uid)->chips;
  const auto best = machine.choose({domain::ChipSet::first(8) - had, {}, had, 2, true});
  EXPECT_DOUBLE_EQ(machine.gbps(both), best.gbps);
  EXPECT_DOUBLE_EQ(w.scheduler.decision(second.uid)->gbps, best.gbps);
}

}  // namespace
}  // namespace chipweave::sched::test
