// Pods that are already bound: by this program before a restart, or by another scheduler.
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "scheduler-plugin/server/api_handler.hpp"
#include "scheduler-plugin/server/metrics.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

class Reconcile : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.api.settle();
  }
  std::string note(const std::string& pod, const std::string& node, const std::string& chips,
                   const std::string& uid = {}) {
    std::string list;
    for (const char c : chips)
      list += (list.empty() ? "" : ",") + std::string(R"({"index":)") + c + "}";
    return R"({"v":1,"node":")" + node + R"(","podUid":")" +
           (uid.empty() ? world_.pod(pod).uid : uid) +
           R"(","resource":"nvidia.com/gpu","chips":[)" + list +
           R"(],"gbps":40.0,"decision":"d-000041","time":"2026-01-02T03:04:05Z"})";
  }
  void bind_by_hand(const std::string& pod, const std::string& node, const std::string& text = {}) {
    world_.api.set_node("ns/" + pod, node,
                        text.empty()
                            ? std::map<std::string, std::string>()
                            : std::map<std::string, std::string>{{kPlacementAnnotation, text}});
    world_.api.settle();
  }
  bool holds(const std::string& pod, int chip) const {
    const std::vector<int> chips = world_.held(pod);
    return std::find(chips.begin(), chips.end(), chip) != chips.end();
  }
  int free_chips() const {
    const NodeTable& nodes = world_.scheduler->nodes();
    return nodes.node(nodes.find("n1")).free().size();
  }
  KubeWorld world_;
};

TEST_F(Reconcile, AfterARestartTheLedgerIsWhatTheAnnotationsSay) {
  for (const char* name : {"a", "b", "c"}) {
    world_.create(name, 2);
    world_.api.settle();
    world_.fit(name);
    world_.bind(name, "n1");
    world_.api.settle();
  }
  const auto a = world_.held("a");
  const auto c = world_.held("c");
  const Decision before = *world_.scheduler->decision(world_.pod("c").uid);
  world_.restart();
  world_.api.settle();
  EXPECT_EQ(world_.held("a"), a);
  EXPECT_EQ(world_.held("c"), c);
  EXPECT_EQ(free_chips(), 2);
  const Decision* after = world_.scheduler->decision(world_.pod("c").uid);
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->id, before.id);
  EXPECT_EQ(after->gbps, before.gbps);
  EXPECT_EQ(after->best_gbps, before.best_gbps);
  EXPECT_EQ(rfc3339(after->time), rfc3339(before.time));
  EXPECT_NE(world_.scheduler->placements().explain({"ns", "c"})->json.find("runs on n1 with chips"),
            std::string::npos);
  // decision numbers continue
  world_.create("d", 2);
  world_.api.settle();
  world_.bind("d", "n1");
  world_.api.settle();
  EXPECT_EQ(world_.scheduler->decision(world_.pod("d").uid)->id, "d-000004");
  world_.expect_no_chip_twice();
}

// A user who may annotate pods could otherwise make the numbers repeat.
TEST_F(Reconcile, ADecisionNumberThatCannotBeOursIsNotContinued) {
  for (const char* number : {"d-18446744073709551615", "d-1000000000000000000", "d-7x", "d-"}) {
    const std::string name = "p" + std::to_string(world_.api.pods.size());
    world_.create(name, 1);
    world_.api.settle();
    std::string claimed = note(name, "n1", std::to_string(world_.api.pods.size()));
    claimed.replace(claimed.find("d-000041"), 8, number);
    bind_by_hand(name, "n1", claimed);
    EXPECT_EQ(world_.held(name).size(), 1U);
  }
  world_.create("a", 2);
  world_.api.settle();
  world_.bind("a", "n1");
  world_.api.settle();
  EXPECT_EQ(world_.scheduler->decision(world_.pod("a").uid)->id, "d-000001");
}

TEST_F(Reconcile, PodsMayBeSeenBeforeTheirNode) {
  world_.create("a", 2);
  world_.api.settle();
  world_.bind("a", "n1");
  world_.api.settle();
  const double best_gbps = world_.scheduler->decision(world_.pod("a").uid)->best_gbps;
  world_.api.set_inventory("n1", "");
  world_.restart();
  world_.api.settle();
  ASSERT_NE(world_.holding("a"), nullptr);
  EXPECT_EQ(world_.held("a"), (std::vector<int>{0, 3}));
  const Decision* recalled = world_.scheduler->decision(world_.pod("a").uid);
  EXPECT_EQ(recalled->best_gbps, 0) << "the machine is unknown";
  Metrics metrics("test");
  const auto age = [&] {
    return metrics.scrape(*world_.scheduler, {}).find("inventory_age_seconds{node=\"n1\"");
  };
  EXPECT_EQ(age(), std::string::npos);
  http::Loop loop;
  SlicedReplies replies(loop, world_.scheduler->clock());
  ApiHandler api(*world_.scheduler, replies);
  const auto nodes = std::get<http::Response>(api.nodes(""));
  EXPECT_NE(nodes.body.find(R"("inventory_age_seconds":null)"), std::string::npos);
  world_.create("b", 8);
  world_.api.settle();
  EXPECT_EQ(world_.fit("b"), std::vector<std::string>{}) << "no inventory";
  world_.add_node("n1", "hgx-v100-8");
  world_.api.settle();
  EXPECT_EQ(world_.held("a"), (std::vector<int>{0, 3}));
  EXPECT_EQ(recalled->best_gbps, best_gbps);
  EXPECT_NE(age(), std::string::npos);
  EXPECT_EQ(free_chips(), 6);
  EXPECT_EQ(world_.fit("b"), std::vector<std::string>{});
  world_.come_to_rest();
  world_.expect_ledger_is_the_truth();
}

TEST_F(Reconcile, NoHeartbeatRestoresAWithdrawnInventory) {
  world_.create("a", 2);
  world_.api.settle();
  world_.bind("a", "n1");
  world_.api.settle();
  world_.api.set_inventory("n1", "");
  world_.api.settle();
  world_.create("b", 1);
  world_.api.settle();
  for (const char* boot : {"", "boot"}) {
    world_.scheduler->heartbeat("n1", boot);
    EXPECT_EQ(world_.fit("b"), std::vector<std::string>{}) << '"' << boot << '"';
  }
}

TEST_F(Reconcile, APodOfUnknownChipsIsCounted) {
  world_.create("f", 3);
  world_.api.settle();
  bind_by_hand("f", "n1");
  ASSERT_NE(world_.holding("f"), nullptr);
  EXPECT_TRUE(world_.holding("f")->assumed);
  EXPECT_EQ(world_.holding("f")->unattributed(), 3);
  EXPECT_EQ(free_chips(), 5);
  world_.api.remove("ns/f");
  world_.api.settle();
  EXPECT_EQ(free_chips(), 8);
}

TEST_F(Reconcile, APlacementGetsItsChipsAndGuessesYield) {
  world_.create("f", 6);
  world_.create("a", 2);
  world_.api.settle();
  bind_by_hand("f", "n1");
  const std::vector<int> guess = world_.held("f");
  ASSERT_EQ(guess.size(), 6U);
  const std::string two = std::to_string(guess[0]) + std::to_string(guess[1]);
  bind_by_hand("a", "n1", note("a", "n1", two));
  EXPECT_EQ(world_.held("a"), (std::vector<int>{guess[0], guess[1]}));
  EXPECT_EQ(world_.holding("f")->count(), 6);
  EXPECT_EQ(world_.held("f").size(), 6U) << "guessed again, next to it";
  EXPECT_EQ(free_chips(), 0);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(Reconcile, MoreForeignChipsThanThereAreStayCounted) {
  world_.create("f", 6);
  world_.create("g", 6);
  world_.api.settle();
  bind_by_hand("f", "n1");
  bind_by_hand("g", "n1");
  EXPECT_EQ(world_.holding("f")->unattributed() + world_.holding("g")->unattributed(), 12);
  EXPECT_EQ(free_chips(), 0);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
  world_.api.remove("ns/f");
  world_.api.settle();
  EXPECT_EQ(world_.held("g").size(), 6U) << "now they have chips";
  EXPECT_EQ(free_chips(), 2);
}

TEST_F(Reconcile, ReservationsYieldToWhatIsBound) {
  world_.create("p", 8);
  world_.create("f", 1);
  world_.api.settle();
  EXPECT_EQ(world_.fit("p"), std::vector<std::string>{"n1"}) << "reserved: it is the only node";
  EXPECT_EQ(world_.held("p").size(), 8U);
  bind_by_hand("f", "n1");
  EXPECT_EQ(world_.held("p"), std::vector<int>{});
  EXPECT_EQ(free_chips(), 7);
}

TEST_F(Reconcile, AnImpossibleAnnotationIsIgnored) {
  const std::string huge(40, '1');
  int number = 0;
  const auto refuses = [&](const std::function<std::string(const std::string&)>& text) {
    const std::string name = "x" + std::to_string(++number);
    world_.create(name, 2);
    world_.api.settle();
    bind_by_hand(name, "n1", text(name));
    ASSERT_NE(world_.holding(name), nullptr);
    EXPECT_TRUE(world_.holding(name)->assumed) << text(name);
    EXPECT_EQ(world_.held(name).size(), 2U);
    world_.api.remove("ns/" + name);
    world_.api.settle();
  };
  refuses([&](const auto& pod) { return note(pod, "n1", "01", "another"); });
  refuses([&](const auto& pod) { return note(pod, "n2", "01"); });
  refuses([&](const auto& pod) { return note(pod, "n1", "012"); });
  refuses([&](const auto& pod) { return note(pod, "n1", "0"); });
  refuses([&](const auto& pod) { return note(pod, "n1", "00"); });
  refuses([&](const auto&) { return std::string("{"); });
  refuses([&](const auto&) { return std::string("7"); });
  refuses([&](const auto&) { return std::string(R"({"v":2})"); });
  refuses([&](const auto& pod) { return "[" + note(pod, "n1", "01") + "]"; });
  refuses([&](const auto& pod) {
    std::string text = note(pod, "n1", "01");
    return text.replace(text.find(R"("index":0)"), 9, R"("index":)" + huge);
  });
  EXPECT_EQ(free_chips(), 8);
}

// A placement with chips that the machine does not report keeps them in case they appear.
TEST_F(Reconcile, ChipsThatAreNotReportedAreRemembered) {
  world_.create("a", 2);
  world_.api.settle();
  bind_by_hand("a", "n1", note("a", "n1", "09"));
  EXPECT_EQ(world_.held("a"), (std::vector<int>{0, 9}));
  EXPECT_EQ(free_chips(), 7);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(Reconcile, WhatOtherSchedulersWriteIsUnderstood) {
  world_.create("ack", 2, "aliyun.com/gpu");
  world_.create("odd", 2, "aliyun.com/gpu");
  world_.add_node("n3", "ascend-910b-8");
  world_.api.settle();
  world_.api.set_node("ns/ack", "n1", {{"topology.kubernetes.io/gpu-group", "5,2"}});
  world_.api.set_node("ns/odd", "n1", {{"topology.kubernetes.io/gpu-group", "5,x"}});
  world_.api.settle();
  EXPECT_EQ(world_.held("ack"), (std::vector<int>{2, 5}));
  EXPECT_FALSE(world_.holding("ack")->assumed);
  EXPECT_TRUE(world_.holding("odd")->assumed);
}

// Placements of the kubelet or of another scheduler may arrive after the binding.
TEST_F(Reconcile, AGuessBecomesKnowledge) {
  world_.create("f", 2);
  world_.api.settle();
  bind_by_hand("f", "n1");
  EXPECT_TRUE(world_.holding("f")->assumed);
  world_.api.annotate("ns/f", kPlacementAnnotation, note("f", "n1", "67"));
  world_.api.settle();
  EXPECT_FALSE(world_.holding("f")->assumed);
  EXPECT_EQ(world_.held("f"), (std::vector<int>{6, 7}));
  // and does not change when the pod is edited afterwards
  world_.api.annotate("ns/f", kPlacementAnnotation, note("f", "n1", "01"));
  world_.api.settle();
  EXPECT_EQ(world_.held("f"), (std::vector<int>{6, 7}));
}

TEST_F(Reconcile, GroupsGoOnWhereTheirBoundMembersAre) {
  const std::map<std::string, std::string> group = {{"gpu-topology", "g"},
                                                    {"gpu-topology-replica", "2"}};
  world_.add_node("n2", "hgx-v100-8");
  world_.create("a", 2, "aliyun.com/gpu", group);
  world_.create("b", 2, "aliyun.com/gpu", group);
  world_.api.settle();
  world_.fit("a");
  world_.bind("a", "n2");
  world_.api.settle();
  world_.restart();
  world_.api.settle();
  EXPECT_EQ(world_.fit("b"), std::vector<std::string>{"n2"});
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

// Chips allocated by a DRA driver are not available to other pods.
TEST_F(Reconcile, ChipsOfResourceClaimsAreCounted) {
  world_.api.set_claim("c", {{"gpu.nvidia.com", "n1"},
                             {"gpu.nvidia.com", "n1"},
                             {"net.example.com", "n1"},
                             {"gpu.nvidia.com", "n2"}});
  world_.api.settle();
  EXPECT_EQ(free_chips(), 6);
  EXPECT_EQ(world_.scheduler->ledger().bound(), 2U) << "one on n1, one on n2";
  world_.api.set_claim("c", {{"gpu.nvidia.com", "n1"}});
  world_.api.settle();
  EXPECT_EQ(free_chips(), 7);
  world_.restart();
  world_.api.settle();
  EXPECT_EQ(free_chips(), 7);
  world_.api.set_claim("c", {});
  world_.api.settle();
  EXPECT_EQ(free_chips(), 8);
  EXPECT_EQ(world_.scheduler->ledger().bound(), 0U);
}

// The last two watches are those of slices and claims.
TEST_F(Reconcile, NobodyIsAnsweredBeforeTheChipsOfResourceClaimsAreKnown) {
  for (const std::size_t behind : {1U, 2U}) {
    world_.restart();
    const std::size_t late = world_.api.watches() - behind;
    for (std::size_t i = 0; i < world_.api.watches(); ++i) {
      if (i != late) world_.api.feed(i, 1'000'000);
    }
    EXPECT_NE(world_.scheduler->authority().waiting_for().find("ResourceClaims"),
              std::string::npos);
    world_.api.feed(late, 1'000'000);
    EXPECT_EQ(world_.scheduler->authority().waiting_for(), "");
  }
}

TEST_F(Reconcile, AClusterWithoutResourceClaimsIsKnownAllTheSame) {
  world_.api.claims_api = false;
  world_.restart();
  world_.api.settle();
  EXPECT_EQ(world_.scheduler->authority().waiting_for(), "");
  EXPECT_EQ(world_.kubernetes->stats().watch_failures, 0U) << "not a valid placement";
  world_.api.cut(0);
  EXPECT_EQ(world_.kubernetes->stats().watch_failures, 1U);
}

// The pod runs on as many chips as it requests, whatever its annotation claims.
TEST_F(Reconcile, ChipsOfAnotherPodAreDisputed) {
  world_.create("a", 2);
  world_.create("b", 2);
  world_.api.settle();
  bind_by_hand("a", "n1", note("a", "n1", "03"));
  bind_by_hand("b", "n1", note("b", "n1", "34"));
  EXPECT_EQ(world_.held("a"), (std::vector<int>{0, 3}));
  EXPECT_EQ(world_.held("b").size(), 2U);
  EXPECT_EQ(world_.holding("b")->unattributed(), 2);
  EXPECT_TRUE(world_.recorder.disputes.empty()) << "the other pod's deletion may be in flight";
  world_.pass(std::chrono::seconds(5));
  EXPECT_EQ(world_.recorder.disputes, std::vector<std::string>{"b"});
  world_.pass(std::chrono::seconds(5));
  EXPECT_EQ(world_.recorder.disputes.size(), 1U) << "once";
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

// What it claims and no other pod has is not given away while the dispute lasts.
TEST_F(Reconcile, APodKeepsTheClaimedChipsThatAreNotDisputed) {
  for (const char* name : {"a", "b", "c"}) world_.create(name, 2);
  world_.api.settle();
  bind_by_hand("a", "n1", note("a", "n1", "03"));
  bind_by_hand("b", "n1", note("b", "n1", "37"));
  EXPECT_TRUE(holds("b", 7));
  bind_by_hand("c", "n1", note("c", "n1", "07"));
  EXPECT_TRUE(holds("b", 7)) << "it claimed it first";
  EXPECT_EQ(world_.held("c").size(), 2U);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
  world_.api.remove("ns/a");
  world_.api.settle();
  EXPECT_EQ(world_.held("b"), (std::vector<int>{3, 7}));
  EXPECT_TRUE(holds("c", 0));
  world_.api.remove("ns/b");
  world_.api.settle();
  EXPECT_EQ(world_.held("c"), (std::vector<int>{0, 7}));
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

// A guess yields to a claim, though that is disputed in part.
TEST_F(Reconcile, AGuessYieldsToWhatADisputedPodClaims) {
  for (const char* name : {"a", "b", "c"}) world_.create(name, 2);
  world_.api.settle();
  bind_by_hand("a", "n1", note("a", "n1", "03"));
  bind_by_hand("b", "n1");
  const int guessed = world_.held("b").front();
  bind_by_hand("c", "n1", note("c", "n1", "0" + std::to_string(guessed)));
  EXPECT_TRUE(holds("c", guessed));
  EXPECT_FALSE(holds("b", guessed));
  EXPECT_EQ(world_.held("b").size(), 2U);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

// Every watch is answered 410 and begins a list.
void begin_lists(KubeWorld& world) {
  world.api.forget_history();
  for (std::size_t left = world.api.watches(); left > 0; --left) world.api.feed(0, 1);
}
bool lists_pods(const kube::Call& call) {
  return call.target.starts_with(SimulatedApi::kPods + std::string("?limit"));
}
bool reads_pod(const kube::Call& call) {
  return call.target.find("/pods/a") != std::string::npos;  // also its binding
}

// A pod may be read separately after a list was requested, and deleted before the list is answered.
TEST(ReconcileLists, APodReadBeforeTheListThatLacksItIsGone) {
  using Fate = SimulatedApi::Fate;
  KubeWorld world(false);
  world.add_node("n1", "hgx-v100-8");
  world.create("a", 2);
  world.api.settle();
  const std::string uid = world.pod("a").uid;
  world.api.set_node("ns/a", "n1");
  begin_lists(world);
  ASSERT_EQ(world.api.count(lists_pods), 1U);
  const auto outcome = world.bind("a", "n1");
  while (outcome->empty()) world.api.take(world.api.find(reads_pod).value(), Fate::answered);
  EXPECT_NE(world.scheduler->ledger().find(uid), nullptr) << *outcome;
  world.api.remove("ns/a");
  world.api.take(world.api.find(lists_pods).value(), Fate::answered);
  EXPECT_EQ(world.scheduler->ledger().find(uid), nullptr);
  world.come_to_rest();
  world.expect_ledger_is_the_truth();
}

// The watch expired before it delivered the pod, and the list that lacks it overtakes an earlier
// answer that has it.
TEST(ReconcileLists, APodThatAListLacksIsNotTakenFromAnEarlierAnswer) {
  using Fate = SimulatedApi::Fate;
  KubeWorld world(false);
  world.add_node("n1", "hgx-v100-8");
  world.api.settle();
  world.create("a", 2);
  const std::string uid = world.pod("a").uid;
  world.api.set_node("ns/a", "n1");
  begin_lists(world);
  const auto outcome = world.bind("a", "n1");
  world.process->paused = true;  // answers arrive, but are not processed
  world.api.take(world.api.find(reads_pod).value(), Fate::answered);
  world.api.remove("ns/a");
  world.api.take(world.api.find(lists_pods).value(), Fate::answered);
  std::swap(world.process->held.at(0), world.process->held.at(1));
  world.process->resume();
  EXPECT_NE(outcome->find("the watch has not delivered it yet"), std::string::npos) << *outcome;
  EXPECT_EQ(world.scheduler->ledger().find(uid), nullptr);
  world.come_to_rest();
  world.expect_ledger_is_the_truth();
}

// The watch after the list delivers the version that was read separately and is newer than the
// list.
TEST_F(Reconcile, APodReadAfterTheListThatLacksItStays) {
  begin_lists(world_);
  world_.create("a", 2);
  const auto outcome = world_.bind("a", "n1");
  while (outcome->empty()) world_.api.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*outcome, "bound");
  for (std::size_t i = 0; i < world_.api.watches(); ++i) world_.api.feed(i, 1);
  EXPECT_EQ(world_.held("a"), (std::vector<int>{0, 3})) << "its list contained no pod";
  world_.come_to_rest();
  world_.expect_ledger_is_the_truth();
}

}  // namespace
}  // namespace chipweave::sched::test
