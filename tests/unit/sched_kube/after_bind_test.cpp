// Pods that others bound without a placement and without our admission webhook: the chips are
// chosen afterwards and written to the pod.
#include <gtest/gtest.h>

#include "scheduler-plugin/app/annotations.hpp"
#include "tests/unit/sched_kube/two_nodes.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::seconds;

class DecideAfterBind : public TwoNodes {
 protected:
  void SetUp() override {
    world_.options.decide_after_bind = true;
    world_.restart();
    TwoNodes::SetUp();
  }
  void bind_by_others(const std::string& name, const std::string& node) {
    world_.api.set_node("ns/" + name, node);
    world_.api.settle();
  }
};

TEST_F(DecideAfterBind, WritesTheChipsThatWereReserved) {
  create("a", 2);
  create("b", 2);
  ASSERT_TRUE(world_.scheduler->extender().allocate(world_.request(world_.pod("b")), "n1").ok());
  const auto reserved = world_.held("b");
  bind_by_others("a", "n1");
  EXPECT_EQ(world_.annotated("a").size(), 2U);
  bind_by_others("b", "n1");
  EXPECT_EQ(world_.annotated("b"), reserved);
  EXPECT_EQ(world_.held("b"), reserved);
  EXPECT_EQ(world_.recorder.bound_pods, (std::vector<std::string>{"a", "b"}));
}

TEST_F(DecideAfterBind, LeavesPodsThatRunAlone) {
  create("a", 2);
  world_.api.set_started("ns/a");
  bind_by_others("a", "n1");
  world_.come_to_rest();
  EXPECT_TRUE(world_.annotated("a").empty());
  EXPECT_TRUE(world_.holding("a")->assumed);
}

TEST_F(DecideAfterBind, TriesAgainUntilThereIsRoom) {
  create("a", 8);
  create("b", 8);
  bind_by_others("a", "n1");
  bind_by_others("b", "n1");  // the device plugin would refuse it; its agent may still wait
  EXPECT_TRUE(world_.annotated("b").empty());
  world_.pass(seconds(1));
  world_.api.settle();
  EXPECT_TRUE(world_.annotated("b").empty());
  world_.api.remove("ns/a");
  world_.api.settle();
  world_.pass(seconds(1));
  world_.api.settle();
  EXPECT_EQ(world_.annotated("b").size(), 8U);
}

TEST_F(DecideAfterBind, SurvivesTheApiServersSilence) {
  create("a", 4);
  world_.api.set_node("ns/a", "n1");
  for (std::size_t i = 0; i < world_.api.watches(); ++i) world_.api.feed(i, 10);
  ASSERT_GT(world_.api.waiting(), 0U) << "it reads the pod first";
  for (int lost = 0; lost < 3; ++lost) {
    while (world_.api.waiting() > 0) world_.api.take(0, SimulatedApi::Fate::lost_after);
    world_.pass(seconds(1));
  }
  EXPECT_EQ(world_.held("a").size(), 4U);
  const auto chosen = world_.held("a");
  world_.come_to_rest();
  EXPECT_EQ(world_.annotated("a"), chosen);
}

TEST_F(DecideAfterBind, AfterARestartToo) {
  create("a", 4);
  world_.kill();
  world_.api.set_node("ns/a", "n1");
  world_.start();
  world_.come_to_rest();
  EXPECT_EQ(world_.annotated("a").size(), 4U);
}

TEST_F(DecideAfterBind, WhoWasFirstIsBelieved) {
  create("a", 2);
  world_.api.set_node("ns/a", "n1");
  for (std::size_t i = 0; i < world_.api.watches(); ++i) world_.api.feed(i, 10);
  const auto ours = world_.held("a");
  EXPECT_EQ(ours.size(), 2U);
  world_.api.annotate("ns/a", kPlacementAnnotation,
                      R"({"v":1,"node":"n1","podUid":")" + world_.pod("a").uid +
                          R"(","resource":"nvidia.com/gpu","chips":[{"index":6},{"index":7}]})");
  world_.come_to_rest();
  EXPECT_EQ(world_.held("a"), (std::vector<int>{6, 7}));
  EXPECT_EQ(world_.annotated("a"), (std::vector<int>{6, 7}));
}

TEST(DecideAfterBindOff, NothingIsWritten) {
  KubeWorld world;
  world.add_node("n1", "hgx-v100-8");
  world.create("a", 2);
  world.api.settle();
  world.api.set_node("ns/a", "n1");
  world.come_to_rest();
  EXPECT_FALSE(world.pod("a").annotations.contains(kPlacementAnnotation));
  EXPECT_TRUE(world.holding("a")->assumed);
}

}  // namespace
}  // namespace chipweave::sched::test
