// kube-scheduler's preempt requests about many nodes: other tasks of the loop run in between.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/server/kube_extender_handler.hpp"
#include "tests/unit/sched/busy_clock.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched {
namespace {

using nlohmann::json;
using test::World;

class KubePreempts : public ::testing::Test {
 protected:
  static constexpr int kNodes = 12;

  // On each node two pods, whose end makes room.
  void SetUp() override {
    for (int n = 0; n < kNodes; ++n) {
      const std::string node = "n" + std::to_string(n);
      world_.add_node(node, "hgx-v100-8");
      json& victims = asked_["NodeNameToMetaVictims"][node];
      victims["NumPDBViolations"] = n;
      for (const std::string& name : {node + "-a", node + "-b"}) {
        const PodRequest low = world_.submit(name, 4);
        ASSERT_TRUE(world_.bind(low, node).ok());
        victims["Pods"].push_back({{"UID", low.uid}});
      }
    }
    world_.submit(high_, 10);
    const json container = {{"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}};
    asked_["Pod"] = {{"metadata", {{"name", "high"}, {"namespace", "ns"}, {"uid", high_.uid}}},
                     {"spec", {{"priority", 10}, {"containers", json::array({container})}}}};
  }
  void end(const std::string& name) {
    ASSERT_TRUE(world_.cluster.end(World::request(name, 4).key).ok());
  }
  void ask() {
    std::string body = asked_.dump();
    http::Answer answer = handler_.preempt(body);
    if (const auto* now = std::get_if<http::Response>(&answer)) {
      replies_.push_back(*now);
    } else {
      std::get<http::Later>(answer)(std::make_shared<test::KeptReply>(replies_));
    }
  }
  json reply() {
    loop_.every(std::chrono::milliseconds(1), [this] {
      if (!replies_.empty()) loop_.stop();
    });
    loop_.run();
    EXPECT_EQ(replies_.at(0).status, 200);
    return json::parse(replies_.at(0).body);
  }

  struct Standby final : Leadership {
    std::string standby() const override { return "another replica leads"; }
    std::uint64_t term() const override { return 2; }
  };

  World world_;
  const PodRequest high_ = World::request("high", 8);
  json asked_;
  http::Loop loop_;
  test::BusyClock clock_;
  SlicedReplies sliced_{loop_, clock_};
  ResourceTable resources_;
  KubeExtenderHandler handler_{loop_, world_.scheduler, resources_, sliced_};
  std::vector<http::Response> replies_;
};

TEST_F(KubePreempts, OtherTasksRunBetweenTheNodes) {
  bool complete_before = false;
  loop_.post([&] {
    ask();
    loop_.post([&] { complete_before = !replies_.empty(); });
  });
  EXPECT_EQ(reply()["NodeNameToMetaVictims"], asked_["NodeNameToMetaVictims"]);
  EXPECT_FALSE(complete_before);
}

// Versions after 1.37 may ask for nodes where they find no victims themselves.
TEST_F(KubePreempts, FindsVictimsWhereNoneIsProposed) {
  asked_["NodeNameToMetaVictims"] = json::object();
  asked_["NodeNameToMetaVictims"]["n1"] = {{"Pods", json::array()}, {"NumPDBViolations", 0}};
  asked_["NodeNameToMetaVictims"]["n2"] = {{"Pods", nullptr}, {"NumPDBViolations", 0}};
  ask();
  const json nodes = reply()["NodeNameToMetaVictims"];
  ASSERT_EQ(nodes.size(), 2U);
  for (const char* node : {"n1", "n2"}) {
    EXPECT_EQ(nodes[node]["Pods"].size(), 2U);
    EXPECT_EQ(nodes[node]["NumPDBViolations"], 2) << "their budgets are not known";
  }
}

TEST_F(KubePreempts, VictimsThatWereNotProposedCountAsViolations) {
  const json proposed = asked_["NodeNameToMetaVictims"]["n3"]["Pods"];
  asked_["NodeNameToMetaVictims"]["n3"]["Pods"] = json::array({proposed[0]});
  ask();
  const json nodes = reply()["NodeNameToMetaVictims"];
  EXPECT_EQ(nodes["n3"]["Pods"].size(), 2U);
  EXPECT_EQ(nodes["n3"]["NumPDBViolations"], 3 + 1);
  EXPECT_EQ(nodes["n4"]["NumPDBViolations"], 4);
}

TEST_F(KubePreempts, WhatIsFoundIsKeptForTheNominatedPod) {
  ask();
  reply();
  ClusterPod nominated = world_.pod(high_);
  nominated.nominated = "n7";
  world_.scheduler.reconciler().pod_nominated(nominated);
  end("n7-a");
  EXPECT_EQ(world_.chips(high_).size(), 4U) << "the other victim is still there";
}

TEST_F(KubePreempts, LaterNodesAreJudgedAsTheyAreByThen) {
  ask();
  ASSERT_TRUE(replies_.empty());
  end("n9-a");
  end("n9-b");
  ASSERT_TRUE(world_.bind(world_.submit(World::request("higher", 8), 20), "n9").ok());
  json others = asked_["NodeNameToMetaVictims"];
  others.erase("n9");
  EXPECT_EQ(reply()["NodeNameToMetaVictims"], others);
}

TEST_F(KubePreempts, NoFurtherNodesOnceAnotherReplicaLeads) {
  ask();
  ASSERT_TRUE(replies_.empty());
  const Standby standby;
  world_.scheduler.authority().set_leadership(&standby);
  EXPECT_LT(reply()["NodeNameToMetaVictims"].size(), std::size_t{kNodes});
}

}  // namespace
}  // namespace chipweave::sched
