#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include <nlohmann/json.hpp>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;

Json explain(World& w, const PodRequest& a) {
  return Json::parse(w.scheduler.placements().explain(a.key).value().json);
}

TEST(Explain, PlacedPodShowsWhatWasRejectedAndWhy) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "pcie-8");
  const auto a = w.submit("p", 4);
  w.fit(a);
  w.scores(a);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  const Json j = explain(w, a);
  EXPECT_EQ(j["state"], "bound");
  EXPECT_EQ(j["node"], "n1");
  EXPECT_EQ(j["chips"], Json(w.chips(a)));
  EXPECT_GT(j["gbps"].get<double>(), 0);
  EXPECT_GT(j["candidates"].get<int>(), 1);
  EXPECT_LE(j["best_rejected"]["gbps"].get<double>(), j["gbps"].get<double>());
  EXPECT_FALSE(j["best_rejected"]["lost_by"].get<std::string>().empty());
  ASSERT_EQ(j["others"].size(), 1U);
  EXPECT_EQ(j["others"][0]["node"], "n2");
  EXPECT_NE(j["others"][0]["why"].get<std::string>().find("slower"), std::string::npos);
}

TEST(Explain, PendingPodNamesThePodWhoseEndWouldHelp) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto small = w.submit("small", 2);
  const auto large = w.submit("large", 4);
  ASSERT_TRUE(w.bind(small, "n1").ok());
  ASSERT_TRUE(w.bind(large, "n1").ok());
  const auto a = w.submit("p", 4);
  const Json j = explain(w, a);
  EXPECT_EQ(j["state"], "pending");
  EXPECT_FALSE(j["fits_now"].get<bool>());
  EXPECT_EQ(j["nodes"][0]["reason"], "not enough free chips");
  EXPECT_EQ(j["smallest_change"], "if pod ns/small (2 chips) on n1 ended");
}

TEST(Explain, PendingPodNamesTheChipWhoseRecoveryWouldHelp) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.set_health("n1", 3, domain::Health::unhealthy);
  const auto a = w.submit("p", 8);
  const Json j = explain(w, a);
  EXPECT_EQ(j["smallest_change"], "if chip 3 on n1 were healthy again");
  EXPECT_EQ(j["changes"].back()["kind"], "smaller_size");
  domain::Fault of_other;
  of_other.code = "xid.48";
  of_other.effect = domain::Effect::unusable;
  of_other.chip = domain::ChipIndex{2};
  domain::Fault fault = of_other;
  fault.code = "xid.79";
  fault.chip = domain::ChipIndex{3};
  fault.text = "has fallen off the bus";
  w.set_faults("n1", {of_other, fault});
  EXPECT_EQ(explain(w, a)["smallest_change"],
            "if chip 3 on n1 were healthy again (xid.79: has fallen off the bus)");
}

TEST(Explain, PendingPodNamesTheDevicePluginThatIsNotReady) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.set_gate("n1", false);
  const auto a = w.submit("p", 8);
  const Json j = explain(w, a);
  EXPECT_EQ(j["nodes"][0]["reason"],
            "the node is closed for pods with chips: its device plugin is not ready");
  EXPECT_EQ(j["smallest_change"], "if the device plugin of n1 were ready");
  EXPECT_EQ(j["changes"][0]["kind"], "device_plugin");
  EXPECT_TRUE(explain(w, w.submit("whole", 9))["changes"].empty());
}

TEST(Explain, PendingPodOfASizeNoMachineCanHold) {
  World w;
  w.add_node("n1", "ascend-910a-8");
  const auto a = w.submit("p", 5, "huawei.com/Ascend910");
  const Json j = explain(w, a);
  const auto summary = j["summary"].get<std::string>();
  EXPECT_NE(summary.find("no machine in the cluster can hold 5 chips"), std::string::npos)
      << summary;
  EXPECT_NE(summary.find("1, 2, 4, 8"), std::string::npos) << summary;
  EXPECT_EQ(j["smallest_change"], "if it requested 4 chips (fits on n1)");
}

TEST(Explain, SeveralPodsMustEnd) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(w.bind(w.submit("s" + std::to_string(i), 2), "n1").ok());
  const auto a = w.submit("p", 4);
  const Json j = explain(w, a);
  EXPECT_EQ(j["changes"][0]["kind"], "pods");
  EXPECT_EQ(j["smallest_change"], "if pods ns/s0, ns/s1 (4 chips) on n1 ended");
}

TEST(Explain, SmallestChangeReallyLetsThePodRun) {
  World w;
  w.add_node("n1", "ascend-910a-8");
  const auto a = w.submit("a", 2, "huawei.com/Ascend910");
  const auto b = w.submit("b", 1, "huawei.com/Ascend910");
  ASSERT_TRUE(w.bind(a, "n1").ok());
  ASSERT_TRUE(w.bind(b, "n1").ok());
  const auto p = w.submit("p", 8, "huawei.com/Ascend910");
  EXPECT_TRUE(w.fit(p).empty());
  EXPECT_EQ(explain(w, p)["changes"][0]["kind"], "pods");
  ASSERT_TRUE(w.cluster.end(a.key).ok());
  EXPECT_EQ(explain(w, p)["smallest_change"], "if pod ns/b (1 chip) on n1 ended");
  ASSERT_TRUE(w.cluster.end(b.key).ok());
  EXPECT_EQ(w.fit(p).size(), 1U);
}

// The chips that the solver chose from are not those of the machine of the same name.
TEST(Explain, AMachineThatCameBackWithFewerChips) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit(World::request("p", 2), 10);
  ASSERT_EQ(w.fit(a).size(), 1U);
  ASSERT_EQ(explain(w, a)["usable"].size(), 8U);
  w.clock.advance(limits::kReservationTtl + std::chrono::seconds(1));
  w.scheduler.tick();
  w.scheduler.inventory_gone("n1");
  w.add_node("n1", "hgx-a100-4");
  ClusterPod nominated = w.pod(a);
  nominated.nominated = "n1";
  w.scheduler.reconciler().pod_nominated(nominated);
  const Json j = explain(w, a);
  EXPECT_EQ(j["state"], "reserved");
  EXPECT_EQ(j["chips"].size(), 2U);
  EXPECT_FALSE(j.contains("usable")) << j;
  w.expect_sound();
}

TEST(Explain, UnknownPodIsAnError) {
  World w;
  EXPECT_EQ(w.scheduler.placements().explain({"ns", "ghost"}).error().code, Errc::not_found);
}

TEST(Explain, NoNodesAndStaleNodes) {
  World w;
  const auto a = w.submit("p", 2);
  EXPECT_EQ(explain(w, a)["summary"], "no node has reported its chips");
  w.add_node("n1", "hgx-v100-8");
  w.scheduler.agent_gone("n1", "boot");
  EXPECT_EQ(explain(w, a)["smallest_change"], "if the agent of n1 reported again");
}

TEST(Explain, TheSmallestPodWhoseEndIsEnoughOnAnyNode) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  ASSERT_TRUE(w.bind(w.submit("all", 8), "n1").ok());
  ASSERT_TRUE(w.bind(w.submit("most", 7), "n2").ok());
  ASSERT_TRUE(w.bind(w.submit("one", 1), "n2").ok());
  const auto p = w.submit("p", 1);
  w.fit(p);
  EXPECT_EQ(explain(w, p)["smallest_change"], "if pod ns/one (1 chip) on n2 ended");
}

TEST(Explain, ThePodOfASilentNodeIsFlagged) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit("p", 2);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  EXPECT_FALSE(explain(w, a)["node_stale"].get<bool>());
  EXPECT_EQ(w.scheduler.pod_reason(w.pod(a)), "");
  w.scheduler.agent_gone("n1", "boot");
  w.clock.advance(std::chrono::minutes(5));
  const Json j = explain(w, a);
  EXPECT_TRUE(j["node_stale"].get<bool>());
  EXPECT_THAT(j["summary"].get<std::string>(),
              testing::HasSubstr("the node is NotReady: the agent has not reported for 5m"));
  EXPECT_EQ(w.scheduler.pod_reason(w.pod(a)), "NotReady: the agent has not reported for 5m");
}

// In kube-scheduler's words, of all nodes; and those first that are nearest to taking the pod.
TEST(Explain, CountsNodesAsKubeSchedulerDoes) {
  World w;
  for (const char* name : {"a-small", "b-silent", "c-full", "d-half", "e-away"})
    w.add_node(name, std::string(name) == "a-small" ? "hgx-a100-4" : "hgx-h100-8");
  w.scheduler.agent_gone("b-silent", "boot");
  ASSERT_TRUE(w.bind(w.submit("all", 8), "c-full").ok());
  ASSERT_TRUE(w.bind(w.submit("half", 4), "d-half").ok());
  const auto p = w.submit("p", 8);
  const std::vector<std::string_view> offered{"a-small", "b-silent", "c-full", "d-half"};
  ASSERT_TRUE(fitting(w.scheduler, p, offered).empty());
  const Json j = explain(w, p);
  EXPECT_THAT(j["summary"].get<std::string>(),
              testing::StartsWith(
                  "pending: 0/5 nodes are available: 2 Insufficient nvidia.com/gpu, "
                  "1 NotReady (the agent is silent), 1 the machine has fewer chips than requested, "
                  "1 not offered by the scheduler (node selector, taints or other resources); it "
                  "would fit"));
  std::vector<std::string> names;
  for (const Json& node : j["nodes"]) names.push_back(node["node"]);
  EXPECT_THAT(names, testing::ElementsAre("d-half", "c-full", "b-silent", "a-small"));
  EXPECT_EQ(w.scheduler.pod_reason(w.pod(p)),
            "0/4 nodes are available: 2 Insufficient nvidia.com/gpu, 1 NotReady (the agent is "
            "silent), 1 the machine has fewer chips than requested");
}

// A node that was not offered may hold the pod.
TEST(Explain, NeverIsSaidOfTheOfferedNodesOnly) {
  World w;
  w.add_node("small", "hgx-a100-4");
  w.add_node("large", "hgx-h100-8");
  const auto p = w.submit("p", 8);
  ASSERT_TRUE(fitting(w.scheduler, p, std::vector<std::string_view>{"small"}).empty());
  const std::string some = explain(w, p)["summary"];
  EXPECT_THAT(some, testing::HasSubstr("none of the offered nodes can hold 8 chips"));
  EXPECT_THAT(some, testing::Not(testing::HasSubstr("no machine in the cluster")));
  const auto q = w.submit("q", 9);
  ASSERT_TRUE(w.fit(q).empty());
  EXPECT_THAT(explain(w, q)["summary"].get<std::string>(),
              testing::HasSubstr("no machine in the cluster can hold 9 chips"));
  // a silent one may come back as any machine
  w.scheduler.agent_gone("large", "boot");
  const auto r = w.submit("r", 8);
  ASSERT_TRUE(w.fit(r).empty());
  EXPECT_THAT(explain(w, r)["summary"].get<std::string>(),
              testing::Not(testing::HasSubstr("can hold")));
}

TEST(Explain, SpeaksOfTheNodesThatWereOffered) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  ASSERT_TRUE(w.bind(w.submit("all", 8), "n1").ok());
  const auto p = w.submit("p", 1);
  const std::vector<std::string_view> offered{"n1"};
  ASSERT_TRUE(fitting(w.scheduler, p, offered).empty());
  const Json j = explain(w, p);
  EXPECT_EQ(j["fits_now"], false);
  EXPECT_EQ(j["not_offered"], 1);
  EXPECT_EQ(j["nodes"].size(), 1U);
  EXPECT_EQ(j["smallest_change"], "if pod ns/all (8 chips) on n1 ended");
  // prioritize gets the nodes that filter left, not those that were offered
  (void)w.scheduler.extender().prioritize(p, {});
  EXPECT_EQ(explain(w, p)["nodes"].size(), 1U);
  const auto q = w.submit("q", 1);
  ASSERT_TRUE(fitting(w.scheduler, q, {}).empty());
  EXPECT_EQ(explain(w, q)["fits_now"], false);
}

// Time passes while it works.
class WorkingClock final : public Clock {
 public:
  Steady now() const override { return now_ += std::chrono::milliseconds(1); }
  Wall wall() const override { return {}; }
  void advance(std::chrono::milliseconds by) { now_ += by; }
  Steady seen() const { return now_; }

 private:
  mutable Steady now_{std::chrono::hours(1)};
};

struct ExplainBudget : ::testing::Test {
  WorkingClock clock;
  MemoryCluster cluster;
  NullObserver observer;
  Scheduler scheduler{clock, cluster, observer};
  PodKey key{"ns", "p"};

  // Sixteen full nodes, each in a state of its own.
  ExplainBudget() {
    for (int i = 0; i < 16; ++i) {
      InventoryReport r;
      r.node = "n" + std::to_string(i);
      r.boot_id = "b";
      r.sequence = 1;
      r.machine = "hgx-v100-8";
      r.topology = profile(r.machine);
      EXPECT_EQ(scheduler.report(r), ReportOutcome::taken);
      r.sequence = 2;
      r.topology.reset();
      for (int chip = 0; chip < 4; ++chip) {
        if ((i >> chip) % 2 != 0) r.chips.push_back({{chip}, domain::Health::unhealthy});
      }
      EXPECT_EQ(scheduler.report(std::move(r)), ReportOutcome::taken);
    }
    cluster.set_listener(&scheduler.reconciler());
    ClusterPod pod;
    pod.request = World::request("p", 9);
    EXPECT_TRUE(cluster.add(pod, "{}").ok());
  }
  // Of the clock, for one explanation.
  std::chrono::milliseconds cost() {
    const auto begin = clock.seen();
    text = scheduler.placements().explain(key);
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock.seen() - begin);
  }
  Result<ExplainText> text = make_error(Errc::internal, "not asked");
};

TEST_F(ExplainBudget, TheSearchEndsInTimeAndSaysSo) {
  EXPECT_LT(cost(), std::chrono::milliseconds(20));
  const Json j = Json::parse(text.value().json);
  EXPECT_EQ(j["nodes"].size(), 16U);
  EXPECT_EQ(j["changes_complete"], false);
  World w;
  w.add_node("n1", "hgx-v100-8");
  EXPECT_EQ(explain(w, w.submit("p", 9))["changes_complete"], true);
  EXPECT_EQ(explain(w, w.submit("q", 1))["changes_complete"], true);
}

TEST_F(ExplainBudget, AFloodGetsAFifthOfTheTime) {
  constexpr std::chrono::milliseconds kFlood{5000};
  std::chrono::milliseconds used{};
  int answered = 0;
  const auto begin = clock.seen();
  while (clock.seen() - begin < kFlood) {
    const auto took = cost();
    if (text) {
      used += took;
      ++answered;
    } else {
      EXPECT_EQ(text.error().code, Errc::unavailable);
      EXPECT_NE(text.error().message.find("too many explanations"), std::string::npos);
    }
  }
  EXPECT_GT(answered, 20);
  // the first look at the clock, 1 ms, comes before the explanation
  EXPECT_LT(used, kFlood / Placements::kExplainShare + Placements::kExplainBurst +
                      std::chrono::milliseconds(100 + answered));
  clock.advance(std::chrono::seconds(2));
  EXPECT_LT(cost(), std::chrono::milliseconds(20));
  EXPECT_TRUE(text.ok()) << "and everyone is answered again";
}

// Each with another kind of request, so that no earlier answer serves it.
TEST_F(ExplainBudget, WhatIfHasPartInTheFifth) {
  int answered = 0;
  int refused = 0;
  const auto begin = clock.seen();
  for (int i = 1; clock.seen() - begin < std::chrono::seconds(5); ++i) {
    PodRequest request = World::request("w", 1 + i % 8);
    request.group = GroupRef{"g", 2 + i % 61};
    const auto placed = scheduler.placements().what_if(request, {});
    const bool busy =
        !placed && placed.error().message.find("what-if requests at a time") != std::string::npos;
    if (busy) {
      EXPECT_EQ(placed.error().code, Errc::unavailable);
    }
    ++(busy ? refused : answered);
  }
  EXPECT_GT(answered, 20);
  EXPECT_GT(refused, answered);
  EXPECT_FALSE(scheduler.placements().explain(key).ok()) << "both have one budget";
}

TEST(Explain, SaysIfNoNodeWasEverOffered) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const std::string words = "no scheduler has offered any";
  const auto small = w.submit("small", 1);
  EXPECT_THAT(explain(w, small)["summary"].get<std::string>(), ::testing::HasSubstr(words));
  w.fit(small);
  EXPECT_THAT(explain(w, small)["summary"].get<std::string>(),
              ::testing::Not(::testing::HasSubstr(words)));
  const auto large = w.submit("large", 9);
  EXPECT_THAT(explain(w, large)["summary"].get<std::string>(), ::testing::HasSubstr(words));
}

// Also for a node that has not reported, whose chips are unknown.
TEST(Explain, APodThatOthersBoundWithoutItsChips) {
  World w;
  ClusterPod pod;
  pod.request = w.submit("p", 2);
  pod.node = "n1";
  w.scheduler.reconciler().pod_bound(pod, nullptr);
  Json j = explain(w, pod.request);
  EXPECT_EQ(j["state"], "assumed");
  EXPECT_EQ(j["chips"], Json::array());
  w.add_node("n1", "hgx-v100-8");
  j = explain(w, pod.request);
  EXPECT_EQ(j["state"], "assumed");
  EXPECT_EQ(j["chips"].size(), 2U);
  EXPECT_THAT(j["summary"].get<std::string>(),
              ::testing::HasSubstr("without saying which 2 chips"));
}

TEST(Explain, AHugeRequestIsAnsweredAtOnce) {
  World w;
  for (const char* m : {"hgx-v100-8", "pcie-8", "hgx-a100-8", "dgx2-v100-16"}) w.add_node(m, m);
  const auto p = w.submit("p", 1000000);
  EXPECT_EQ(explain(w, p)["smallest_change"], "if it requested 16 chips (fits on dgx2-v100-16)");
}

}  // namespace
}  // namespace chipweave::sched::test
