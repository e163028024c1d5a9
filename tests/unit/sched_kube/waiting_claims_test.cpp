// Pods that name ResourceClaims of chipweave's classes: allocated before kube-scheduler looks.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/two_replicas.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Json = nlohmann::json;

class WaitingPods : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.shared->allocate_claims = true;
    world_.shared->enforcement = domain::Enforcement::dra;
    world_.restart();
    world_.api.set_class("chipweave-gpu");
    node("n1");
    settle();
  }
  void node(const std::string& name) {
    world_.add_node(name, "hgx-v100-8");
    world_.api.create_node(name, 64);
  }
  void settle() {
    for (int i = 0; i < 12; ++i) {
      world_.api.settle();
      world_.pass(milliseconds(100));
    }
    world_.api.settle();
  }
  // A pod with a generated claim for each of these lists of counts: "a", claims "a-0", "a-1" …
  void create(const std::string& name, const std::vector<std::vector<int>>& claims,
              const std::string& match = {}, int priority = 0) {
    ServerPod pod;
    pod.ns = "ns";
    pod.name = name;
    pod.uid = "uid-" + name;
    pod.priority = priority;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const std::string claim = name + "-" + std::to_string(i);
      pod.claims.emplace_back("c" + std::to_string(i), claim);
      world_.api.create_claim({claim, "chipweave-gpu", claims[i], match, pod.uid});
    }
    world_.api.create(std::move(pod));
    settle();
  }
  void create_with(const std::string& name, const std::vector<std::string>& claims,
                   const std::map<std::string, std::string>& selector = {}) {
    ServerPod pod;
    pod.ns = "ns";
    pod.name = name;
    pod.uid = "uid-" + name;
    pod.node_selector = selector;
    for (const std::string& claim : claims) pod.claims.emplace_back(claim, claim);
    world_.api.create(std::move(pod));
    settle();
  }
  Json status(const std::string& claim) const {
    const Json* found = world_.api.pod_claims.find(claim);
    return found == nullptr ? Json() : found->value("status", Json());
  }
  std::vector<std::string> devices(const std::string& claim) const {
    return world_.api.pod_claims.devices(claim);
  }
  std::string node_of(const std::string& claim) const {
    return status(claim).value(
        "/allocation/nodeSelector/nodeSelectorTerms/0/matchFields/0/values/0"_json_pointer, "");
  }
  std::vector<std::string> reserved_for(const std::string& claim) const {
    std::vector<std::string> out;
    for (const Json& one : status(claim).value("reservedFor", Json::array()))
      out.push_back(one["uid"]);
    return out;
  }
  int free(const std::string& name = "n1") const {
    const NodeTable& nodes = world_.scheduler->nodes();
    return nodes.node(nodes.find(name)).free().size();
  }
  std::string last_note() const { return world_.api.notes.empty() ? "" : world_.api.notes.back(); }
  std::string explained(const std::string& pod) {
    const auto text = world_.scheduler->placements().explain({"ns", pod});
    return text ? Json::parse(text->json).value("summary", "") : text.error().text();
  }
  // A binding as kube-scheduler stores it.
  void bind(const std::string& pod) {
    const ServerPod& p = world_.pod(pod);
    const std::string node = node_of(p.claims.front().second);
    for (const auto& [name, claim] : p.claims) world_.api.reserve(claim, p.uid);
    world_.api.set_node("ns/" + pod, node);
    settle();
  }
  KubeWorld world_;
};

TEST_F(WaitingPods, GetTheirClaimsAllocatedAndReserved) {
  create("a", {{3}});
  EXPECT_EQ(devices("a-0").size(), 3U);
  EXPECT_EQ(node_of("a-0"), "n1");
  EXPECT_EQ(reserved_for("a-0"), std::vector<std::string>{"uid-a"});
  EXPECT_NE(status("a-0")["allocation"]["allocationTimestamp"], Json());
  EXPECT_EQ(free(), 5);
  EXPECT_EQ(world_.scheduler->ledger().reserved(), 0U) << "the claim itself holds them now";
  EXPECT_NE(last_note().find("Allocated: claim a-0 has chips"), std::string::npos) << last_note();
  EXPECT_NE(explained("a").find("claim a-0 has chips"), std::string::npos) << explained("a");
  bind("a");
  EXPECT_EQ(free(), 5);
  world_.api.remove("ns/a");
  settle();
  EXPECT_EQ(free(), 8);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(WaitingPods, HaveSeveralClaimsAndRequestsOnOneNode) {
  node("n2");
  settle();
  create("a", {{2, 1}, {4}});
  EXPECT_EQ(devices("a-0").size(), 3U);
  EXPECT_EQ(devices("a-1").size(), 4U);
  EXPECT_EQ(node_of("a-0"), node_of("a-1"));
  EXPECT_TRUE(world_.api.pod_claims.allocated_twice().empty());
  const Json results = status("a-0")["allocation"]["devices"]["results"];
  std::map<std::string, int> by_request;
  for (const Json& one : results) ++by_request[one["request"]];
  EXPECT_EQ(by_request, (std::map<std::string, int>{{"r0", 2}, {"r1", 1}}));
}

// Chips 0-3 and 4-7 are one island each.
TEST_F(WaitingPods, KeepMatchAttribute) {
  create("a", {{2}});
  create("b", {{4}}, "chipweave.dev/nvlinkIsland");
  std::set<int> islands;
  for (const std::string& device : devices("b-0")) islands.insert((device.back() - '0') / 4);
  EXPECT_EQ(islands.size(), 1U);
  create("c", {{3}}, "chipweave.dev/nvlinkIsland");
  EXPECT_TRUE(devices("c-0").empty()) << "two chips are left";
  EXPECT_NE(last_note().find("not enough free chips"), std::string::npos) << last_note();
  create("d", {{1}}, "chipweave.dev/no-such-thing");
  EXPECT_NE(last_note().find("keep the constraints"), std::string::npos) << last_note();
}

TEST_F(WaitingPods, WaitForChipsAndGetThem) {
  create("a", {{6}});
  create("b", {{4}});
  EXPECT_TRUE(devices("b-0").empty());
  EXPECT_NE(last_note().find("not enough free chips"), std::string::npos) << last_note();
  EXPECT_NE(explained("b").find("waits for its claims"), std::string::npos) << explained("b");
  bind("a");
  world_.api.remove("ns/a");
  settle();
  EXPECT_EQ(devices("b-0").size(), 4U);
}

TEST_F(WaitingPods, AreRefusedWithWords) {
  create("a", {{33}});
  EXPECT_NE(last_note().find("more than 32 devices"), std::string::npos) << last_note();
  world_.api.create_claim({"odd", "chipweave-none", {1}, "", ""});
  create_with("b", {"odd"});
  EXPECT_NE(last_note().find("there is no DeviceClass chipweave-none"), std::string::npos);
  world_.api.set_class("chipweave-loose", "true");
  world_.api.create_claim({"loose", "chipweave-loose", {1}, "", ""});
  create_with("c", {"loose"});
  EXPECT_NE(last_note().find("must have the selector"), std::string::npos) << last_note();
  EXPECT_TRUE(devices("loose").empty());
}

TEST_F(WaitingPods, OfOtherClassesAreLeftAlone) {
  world_.api.create_claim({"stock", "gpu.nvidia.com", {1}, "", ""});
  create_with("a", {"stock"});
  EXPECT_TRUE(devices("stock").empty());
  EXPECT_TRUE(world_.api.notes.empty());
}

TEST_F(WaitingPods, GetNoDevicesThatOthersGiveAway) {
  std::vector<std::string> ids;
  for (int chip = 0; chip < 8; ++chip) ids.push_back(gpu_id("n1", chip));
  world_.api.set_slice("n1", ids, false);
  settle();
  create("a", {{1}});
  EXPECT_TRUE(devices("a-0").empty());
  EXPECT_NE(last_note().find("lacks the taint"), std::string::npos) << last_note();
}

TEST_F(WaitingPods, GoWhereTheirSelectorAllows) {
  node("n2");
  settle();
  world_.api.create_claim({"x", "chipweave-gpu", {1}, "", ""});
  create_with("a", {"x"}, {{"zone", "far"}});
  EXPECT_TRUE(devices("x").empty());
  EXPECT_NE(last_note().find("nodeSelector"), std::string::npos) << last_note();
}

TEST_F(WaitingPods, ShareAClaim) {
  world_.api.create_claim({"shared", "chipweave-gpu", {2}, "", ""});
  create_with("a", {"shared"});
  create_with("b", {"shared"});
  EXPECT_EQ(devices("shared").size(), 2U);
  EXPECT_EQ(reserved_for("shared"), (std::vector<std::string>{"uid-a", "uid-b"}));
  EXPECT_EQ(free(), 6);
}

TEST_F(WaitingPods, GoElsewhereWhenKubeSchedulerRefusesTheNode) {
  node("n2");
  settle();
  create("a", {{2}, {2}});
  const std::string first = node_of("a-0");
  world_.api.end_allocation("a-0");
  settle();
  EXPECT_NE(node_of("a-0"), first);
  EXPECT_NE(node_of("a-0"), "");
  EXPECT_EQ(node_of("a-1"), node_of("a-0"));
  EXPECT_EQ(free(first), 8);
  const auto stats = world_.kubernetes->stats().waiting_claims;
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->refused_nodes, 1U);
  EXPECT_EQ(stats->released, 1U);
}

TEST_F(WaitingPods, GetTheRefusedNodeAgainAfterAWhile) {
  create("a", {{2}});
  world_.api.end_allocation("a-0");
  settle();
  EXPECT_TRUE(devices("a-0").empty());
  EXPECT_NE(last_note().find("has just refused the node"), std::string::npos) << last_note();
  world_.pass(seconds(12));
  settle();
  EXPECT_EQ(devices("a-0").size(), 2U);
}

TEST_F(WaitingPods, AreToldWhenTheApiServerRefuses) {
  world_.api.refuse_next_claim(403);
  create("a", {{2}});
  EXPECT_EQ(world_.scheduler->ledger().reserved(), 0U);
  EXPECT_EQ(free(), 8);
  world_.pass(seconds(6));
  settle();
  EXPECT_EQ(devices("a-0").size(), 2U);
}

// kube-controller-manager usually does it at once.
TEST_F(WaitingPods, ThatAreGoneLeaveNoAllocationBehind) {
  world_.api.controllers = false;
  world_.api.create_claim({"stray", "chipweave-gpu", {2}, "", ""});
  create_with("a", {"stray"});
  ASSERT_EQ(devices("stray").size(), 2U);
  const auto pass = [&](int time) {
    for (int second = 0; second < time; ++second) {
      world_.pass(seconds(1));
      world_.api.settle();
    }
  };
  pass(100);
  EXPECT_EQ(devices("stray").size(), 2U) << "its pod waits";
  world_.api.remove("ns/a");
  pass(30);
  EXPECT_EQ(devices("stray").size(), 2U);
  pass(60);
  EXPECT_TRUE(devices("stray").empty());
  EXPECT_EQ(free(), 8);
}

// Killed after each of the requests of an allocation.
TEST_F(WaitingPods, AreServedByTheNextSchedulerAfterAKill) {
  for (int calls = 0; calls <= 6; ++calls) {
    SCOPED_TRACE(calls);
    const std::string name = "k" + std::to_string(calls);
    ServerPod pod;
    pod.ns = "ns";
    pod.name = name;
    pod.uid = "uid-" + name;
    pod.claims = {{"c", name + "-0"}, {"d", name + "-1"}};
    world_.api.create_claim({name + "-0", "chipweave-gpu", {3}, "", pod.uid});
    world_.api.create_claim({name + "-1", "chipweave-gpu", {2}, "", pod.uid});
    world_.api.create(std::move(pod));
    world_.feed_all();
    world_.pass(milliseconds(100));
    for (int i = 0; i < calls; ++i) {
      if (world_.api.waiting() > 0) world_.api.take(0, SimulatedApi::Fate::answered);
      world_.pass(milliseconds(1));
    }
    world_.kill();
    world_.start();
    settle();
    settle();
    EXPECT_EQ(devices(name + "-0").size(), 3U);
    EXPECT_EQ(devices(name + "-1").size(), 2U);
    EXPECT_EQ(free(), 3);
    EXPECT_TRUE(world_.api.pod_claims.allocated_twice().empty());
    world_.api.remove("ns/" + name);
    settle();
    EXPECT_EQ(free(), 8);
  }
}

// A write of a killed scheduler that arrives after the next one has given its chips away.
TEST_F(WaitingPods, AreNotDisturbedByALateWriteOfAKilledScheduler) {
  create("a", {{8}});
  world_.api.end_allocation("a-0");  // its finalizer stays, as after the first write
  world_.kill();
  world_.start();
  // the allocation of "a" was sent
  for (int i = 0; i < 200 && !world_.api.find([](const kube::Call& call) {
         return call.method == "PATCH" && call.target.ends_with("a-0/status");
       });
       ++i) {
    if (world_.api.waiting() > 0) {
      world_.api.take(0, SimulatedApi::Fate::answered);
    } else {
      world_.feed_all();
      world_.pass(milliseconds(50));
    }
  }
  const auto write = world_.api.find([](const kube::Call& call) {
    return call.method == "PATCH" && call.target.ends_with("a-0/status");
  });
  ASSERT_TRUE(write);
  world_.api.detach(*write);
  world_.restart();
  create("b", {{8}}, {}, 10);  // it comes first
  ASSERT_EQ(world_.api.detached(), 1U);
  world_.api.deliver_detached(0);
  settle();
  EXPECT_TRUE(world_.api.pod_claims.allocated_twice().empty());
  EXPECT_EQ(devices("b-0").size(), 8U);
}

// Its watches have not delivered the slice, nor the claim, when it has to decide.
TEST(WaitingPodsOfTwoReplicas, AreKeptApartFromDevicesThatTheNextLeaderHasToLookUp) {
  TwoReplicas two;
  two.a.shared->allocate_claims = true;
  for (KubeWorld* each : two.all()) each->restart();
  SimulatedApi& api = two.a.api;
  two.a.add_node("n1", "hgx-v100-8");
  two.a.create("p", 6);
  two.come_to_rest();
  std::vector<std::string> ids;
  for (int chip = 7; chip >= 0; --chip) ids.push_back(gpu_id("n1", chip));
  api.set_slice("n1", ids);
  api.set_claim("c", {{"gpu.nvidia.com", "n1"}, {"gpu.nvidia.com", "n1"}});
  KubeWorld& last = two.a.leads() ? two.a : two.b;
  KubeWorld& next = two.a.leads() ? two.b : two.a;
  last.kill();
  while (!next.leads()) two.pass(milliseconds(100), TwoReplicas::Watches::stalled);
  const auto outcome = next.bind("p", "n1");
  while (api.waiting() > 0) api.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*outcome, "bound");
  EXPECT_EQ(KubeWorld::annotated(next.pod("p")), (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace chipweave::sched::test
