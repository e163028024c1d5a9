// What the copy of the cluster's pods remembers, and which placements it believes.
#include "scheduler-plugin/kube/kube_cluster.hpp"

#include <gtest/gtest.h>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Fate = SimulatedApi::Fate;

class KubeClusters : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.api.settle();
  }
  void create(const std::string& name, int chips) {
    world_.create(name, chips);
    world_.api.settle();
  }
  std::size_t recent_deletions() {
    return dynamic_cast<const KubeCluster&>(world_.kubernetes->cluster()).recent_deletions();
  }
  void read(const std::string& name) {
    world_.kubernetes->cluster().refresh({"ns", name}, [](const Result<void>&) {});
  }
  std::string note(const std::string& uid, const std::string& chips) {
    return R"({"v":1,"node":"n1","podUid":")" + uid + R"(","resource":"nvidia.com/gpu","chips":[)" +
           chips + "]}";
  }
  KubeWorld world_;
};

// There is always one call in flight, but none for long.
TEST_F(KubeClusters, DeletionsAreForgottenWithTheCallsThatMayNotShowThem) {
  create("stays", 1);
  read("stays");
  for (int i = 0; i < 50; ++i) {
    const std::string name = "p" + std::to_string(i);
    world_.create(name, 1);
    world_.feed_all();
    world_.api.remove("ns/" + name);
    world_.feed_all();
    read("stays");
    world_.api.take(0, Fate::answered);
    EXPECT_LE(recent_deletions(), 2U);
  }
  world_.api.settle();
  EXPECT_EQ(recent_deletions(), 0U);
}

TEST_F(KubeClusters, ABindingThatEndsForgetsThemToo) {
  create("a", 1);
  create("b", 1);
  const auto outcome = world_.bind("a", "n1");
  world_.api.remove("ns/b");
  world_.feed_all();
  EXPECT_EQ(recent_deletions(), 1U);
  world_.api.settle();
  EXPECT_EQ(*outcome, "bound");
  EXPECT_EQ(recent_deletions(), 0U);
}

// As in a manifest that was copied from a running pod.
TEST_F(KubeClusters, APlacementOfAnotherPodHidesNoLaterOne) {
  create("a", 2);
  world_.api.set_node(
      "ns/a", "n1", {{kPlacementAnnotation, note("uid-of-another", R"({"index":0},{"index":3})")}});
  world_.api.settle();
  EXPECT_TRUE(world_.holding("a")->assumed);
  world_.api.annotate("ns/a", kPlacementAnnotation,
                      note(world_.pod("a").uid, R"({"index":6},{"index":7})"));
  world_.api.settle();
  EXPECT_EQ(world_.held("a"), (std::vector<int>{6, 7}));
  world_.come_to_rest();
  world_.expect_ledger_is_the_truth();
}

TEST_F(KubeClusters, APlacementOfAnotherPodIsReplacedAfterTheBinding) {
  world_.options.decide_after_bind = true;
  world_.restart();
  world_.api.settle();
  create("a", 2);
  world_.api.annotate("ns/a", kPlacementAnnotation,
                      note("uid-of-another", R"({"index":0},{"index":3})"));
  world_.api.set_node("ns/a", "n1");
  world_.come_to_rest();
  EXPECT_EQ(world_.annotated("a").size(), 2U);
  world_.expect_ledger_is_the_truth();
}

// Permanent, as a policy of the cluster may be; each attempt costs two requests.
TEST_F(KubeClusters, ARefusedAnnotationIsTriedLessAndLessOften) {
  world_.options.decide_after_bind = true;
  world_.restart();
  world_.api.settle();
  world_.api.refuse_annotations(403);
  create("a", 2);
  world_.api.set_node("ns/a", "n1");
  world_.come_to_rest();
  EXPECT_GE(world_.api.refused_annotations(), 4U);
  EXPECT_LE(world_.api.refused_annotations(), 9U) << "in 200 s";
  EXPECT_EQ(world_.held("a").size(), 2U);
  world_.api.refuse_annotations(0);
  for (int i = 0; i < 3; ++i) world_.come_to_rest();
  EXPECT_EQ(world_.annotated("a"), world_.held("a"));
}

}  // namespace
}  // namespace chipweave::sched::test
