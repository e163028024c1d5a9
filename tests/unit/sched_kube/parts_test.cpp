// Bound pods whose request the scheduler would refuse: they use chips nevertheless.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/server/api_handler.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;

class Parts : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.api.settle();
  }
  void run(const std::string& pod, int count, const std::string& resource = "nvidia.com/gpu.shared",
           const std::map<std::string, std::string>& labels = {}) {
    world_.create(pod, count, resource, labels);
    world_.api.settle();
    world_.api.set_node("ns/" + pod, "n1", {});
    world_.api.settle();
  }
  void end(const std::string& pod) {
    world_.api.remove("ns/" + pod);
    world_.api.settle();
  }
  int free_chips() const {
    const NodeTable& nodes = world_.scheduler->nodes();
    return nodes.node(nodes.find("n1")).free().size();
  }
  std::vector<std::string> fits(const std::string& pod, int chips) {
    world_.create(pod, chips);
    world_.api.settle();
    return world_.fit(pod);
  }
  Json explained(const std::string& pod) {
    return Json::parse(world_.scheduler->placements().explain({"ns", pod})->json);
  }
  std::string invariants() const { return world_.scheduler->check_invariants(); }
  static inline const std::vector<std::string> kNowhere;
  KubeWorld world_;
};

TEST_F(Parts, AreCountedAndTheirChipsAreNotOffered) {
  run("f", 1);
  EXPECT_EQ(free_chips(), 7);
  EXPECT_TRUE(world_.holding("f")->assumed);
  EXPECT_TRUE(world_.holding("f")->parts);
  EXPECT_EQ(fits("w", 8), kNowhere);
  EXPECT_EQ(fits("v", 4), std::vector<std::string>{"n1"});
  end("f");
  EXPECT_EQ(world_.fit("w"), kNowhere) << "v has a reservation";
  end("v");
  EXPECT_EQ(world_.fit("w"), std::vector<std::string>{"n1"});
  EXPECT_EQ(invariants(), "");
}

TEST_F(Parts, AreCountedIfTheyWereBoundBeforeAStart) {
  run("f", 2);
  world_.restart();
  world_.api.settle();
  EXPECT_EQ(free_chips(), 6);
  EXPECT_EQ(invariants(), "");
  end("f");
  EXPECT_EQ(free_chips(), 8);
}

TEST_F(Parts, MigInstancesAreOnGpusInMigMode) {
  const std::string mig = "nvidia.com/mig-1g.10gb";
  run("a", 1, mig);
  EXPECT_EQ(free_chips(), 7) << "nobody knows yet which GPUs are in MIG mode";
  std::map<int, domain::Health> health;
  std::vector<domain::Fault> faults;
  for (const int chip : {1, 2}) {
    health[chip] = domain::Health::unhealthy;
    faults.emplace_back();
    faults.back().code = "nvml.mig";
    faults.back().chip = domain::ChipIndex{chip};
    faults.back().effect = domain::Effect::unusable;
  }
  world_.add_node("n1", "hgx-v100-8", health, faults);
  world_.api.settle();
  EXPECT_EQ(free_chips(), 6);
  // More pods than GPUs: they share them, and leave the whole ones alone.
  for (const char* pod : {"b", "c", "d"}) run(pod, 2, mig);
  EXPECT_EQ(free_chips(), 6);
  run("f", 1);  // a part of another kind may be anywhere
  EXPECT_EQ(free_chips(), 5);
  EXPECT_EQ(invariants(), "");
  for (const char* pod : {"a", "b", "c", "d", "f"}) end(pod);
  EXPECT_EQ(free_chips(), 6);
  EXPECT_EQ(invariants(), "");
}

TEST_F(Parts, ManyTakeAtMostTheNode) {
  for (int i = 0; i < 20; ++i) run("f" + std::to_string(i), 1);
  EXPECT_EQ(free_chips(), 0);
  EXPECT_EQ(invariants(), "");
  int unattributed = 0;
  for (int i = 0; i < 20; ++i)
    unattributed += world_.holding("f" + std::to_string(i))->unattributed();
  EXPECT_EQ(unattributed, 8);
  for (int i = 0; i < 12; ++i) end("f" + std::to_string(i));
  EXPECT_EQ(free_chips(), 0) << "each of the others may be on a chip of its own";
  for (int i = 12; i < 18; ++i) end("f" + std::to_string(i));
  EXPECT_EQ(free_chips(), 6);
  EXPECT_EQ(invariants(), "");
}

TEST_F(Parts, YieldToPodsWhoseChipsAreKnown) {
  run("f", 2);
  const std::vector<int> guess = world_.held("f");
  world_.create("a", 1);
  world_.api.settle();
  world_.api.set_node(
      "ns/a", "n1",
      {{kPlacementAnnotation,
        R"({"v":1,"node":"n1","podUid":")" + world_.pod("a").uid +
            R"(","resource":"nvidia.com/gpu","chips":[{"index":)" + std::to_string(guess[0]) +
            R"(}],"gbps":0,"decision":"d-000041","time":"2026-01-02T03:04:05Z"})"}});
  world_.api.settle();
  EXPECT_EQ(world_.held("a"), std::vector<int>{guess[0]});
  EXPECT_EQ(world_.held("f").size(), 2U);
  EXPECT_EQ(free_chips(), 5);
  EXPECT_EQ(invariants(), "");
}

TEST_F(Parts, ReservationsYieldToThem) {
  EXPECT_EQ(fits("w", 8), std::vector<std::string>{"n1"});
  EXPECT_EQ(world_.held("w").size(), 8U);
  run("f", 1, "nvidia.com/mig-3g.20gb");
  EXPECT_EQ(world_.held("w"), std::vector<int>{});
  EXPECT_EQ(free_chips(), 7);
}

TEST_F(Parts, WaitingOnesHoldNothingAndAreRefused) {
  world_.create("f", 1, "nvidia.com/gpumem");
  world_.api.settle();
  EXPECT_EQ(free_chips(), 8);
  EXPECT_EQ(explained("f")["state"], "refused");
  const auto outcome = world_.bind("f", "n1");
  world_.api.settle();
  EXPECT_NE(outcome->find("is a fraction of a chip"), std::string::npos) << *outcome;
  EXPECT_EQ(world_.scheduler->records().size(), 0U);
}

TEST_F(Parts, WholeChipsOfARefusedRequestAreHeld) {
  const std::map<std::string, std::string> bad{{"gpu-topology", "g"},
                                               {"gpu-topology-replica", "many"}};
  run("a", 2, "nvidia.com/gpu", bad);
  EXPECT_EQ(world_.holding("a")->count(), 2);
  EXPECT_FALSE(world_.holding("a")->parts);
  EXPECT_EQ(free_chips(), 6);
  const Json a = explained("a");
  EXPECT_EQ(a["state"], "assumed");
  EXPECT_NE(std::string(a["summary"]).find("uses 2 chips (label gpu-topology-replica is 'many'"),
            std::string::npos)
      << a["summary"];
  // with its placement
  world_.create("b", 2, "nvidia.com/gpu", bad);
  world_.api.settle();
  world_.api.set_node(
      "ns/b", "n1",
      {{kPlacementAnnotation,
        R"({"v":1,"node":"n1","podUid":")" + world_.pod("b").uid +
            R"(","resource":"nvidia.com/gpu","chips":[{"index":6},{"index":7}],"gbps":40.0,)"
            R"("decision":"d-000041","time":"2026-01-02T03:04:05Z"})"}});
  world_.api.settle();
  EXPECT_EQ(world_.held("b"), (std::vector<int>{6, 7}));
  EXPECT_FALSE(world_.holding("b")->assumed);
  EXPECT_EQ(explained("b")["chips"], Json({6, 7}));
  EXPECT_EQ(invariants(), "");
}

TEST_F(Parts, ExplainAndTheListOfNodesSayWhoUsesThem) {
  run("f", 1, "nvidia.com/gpucores");
  const Json f = explained("f");
  EXPECT_EQ(f["state"], "assumed");
  EXPECT_EQ(f["parts"], true);
  const int chip = world_.held("f").at(0);
  EXPECT_EQ(
      f["summary"],
      "runs on n1 and uses parts of 1 chip (nvidia.com/gpucores is a fraction of a chip; only "
      "whole chips can be requested); chips " +
          std::to_string(chip) +
          " are not offered to other pods: which ones it has is not known, so these are set "
          "aside for it");
  http::Loop loop;
  SlicedReplies replies(loop, world_.scheduler->clock());
  const Json node = Json::parse(ApiHandler(*world_.scheduler, replies).node("n1", "").body);
  EXPECT_EQ(node["parts"], Json({{"chips", {chip}}, {"pods", {"ns/f"}}}));
  EXPECT_EQ(node["used"]["ns/f"], Json({chip}));
  EXPECT_EQ(node["free"].size(), 7U);
  // no change of a waiting pod counts on the end of one of the pods that share
  fits("w", 8);
  const Json unplaced = explained("w");
  EXPECT_FALSE(unplaced["changes"].empty());
  for (const Json& change : unplaced["changes"]) EXPECT_NE(change["kind"], "pod") << change;
}

TEST_F(Parts, NeitherTheyNorGuessesAreAddedToVictims) {
  run("f", 1);
  run("g", 3, "nvidia.com/gpu");
  world_.create("low", 4);
  world_.api.settle();
  world_.bind("low", "n1");
  world_.api.settle();
  const Preemption& preemption = world_.scheduler->preemption();
  const std::vector<std::string> uids{world_.pod("f").uid, world_.pod("g").uid};
  const std::vector<ProposedVictims> nodes{{"n1", {}}, {"n1", uids}};
  PodRequest wanted = world_.request(world_.pod("low"));
  wanted.uid = "wanted";
  EXPECT_EQ(preemption.choose_victims(wanted, 10, nodes).at(0),
            std::vector<std::string>{world_.pod("low").uid});
  wanted.chips = 7;
  EXPECT_TRUE(preemption.choose_victims(wanted, 10, nodes).at(0).empty());
  EXPECT_EQ(preemption.choose_victims(wanted, 10, nodes).at(1).size(), 3U)
      << "g, and f, which is proposed for other reasons";
  wanted.chips = 8;
  EXPECT_TRUE(preemption.choose_victims(wanted, 10, nodes).at(1).empty()) << "f frees no chip";
}

TEST_F(Parts, AreNeverPlacedAfterTheirBinding) {
  KubeWorld world;
  world.options.decide_after_bind = true;
  world.restart();
  world.add_node("n1", "hgx-v100-8");
  world.api.settle();
  world.create("f", 1, "nvidia.com/gpu.shared");
  world.api.settle();
  world.api.set_node("ns/f", "n1", {});
  world.come_to_rest();
  EXPECT_TRUE(world.holding("f")->assumed);
  EXPECT_TRUE(KubeWorld::annotated(world.pod("f")).empty());
}

}  // namespace
}  // namespace chipweave::sched::test
