#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::testing {
namespace {

// As somebody else bound it, with these chips in its annotation.
ClusterPod bound(const std::string& name, int asks, std::vector<int> chips) {
  ClusterPod pod;
  pod.ask = World::ask(name, asks);
  pod.node = "n1";
  pod.placement = Placement{};
  pod.placement->node = "n1";
  pod.placement->uid = pod.ask.uid;
  pod.placement->resource = pod.ask.resource;
  pod.placement->chips = std::move(chips);
  return pod;
}

TEST(Adopt, APodHasTheChipsThatItsPlacementNames) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const ClusterPod pod = bound("p", 2, {1, 6});
  w.scheduler.pod_added(pod);
  EXPECT_EQ(w.chips(pod.ask), (std::vector<int>{1, 6}));
  EXPECT_EQ(w.scheduler.ledger().find(pod.ask.uid)->unattributed(), 0);
}

TEST(Adopt, APodThatNamesAChipOfAnotherCountsWithAsManyOthers) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const ClusterPod owner = bound("owner", 2, {0, 3});
  w.scheduler.pod_added(owner);
  const ClusterPod liar = bound("liar", 2, {3, 7});
  w.scheduler.pod_added(liar);
  EXPECT_EQ(w.chips(owner.ask), (std::vector<int>{0, 3}));
  EXPECT_EQ(w.chips(liar.ask).size(), 2U);
  EXPECT_EQ(w.scheduler.ledger().find(liar.ask.uid)->unattributed(), 2);
  const NodeId node = w.scheduler.nodes().find("n1");
  EXPECT_EQ(w.scheduler.nodes().node(node).free().size(), 4);
  w.scheduler.pod_gone(liar);
  EXPECT_EQ(w.scheduler.nodes().node(node).free().size(), 6);
  EXPECT_EQ(w.scheduler.ledger().check_invariants(), "");
}

}  // namespace
}  // namespace chipweave::sched::testing
