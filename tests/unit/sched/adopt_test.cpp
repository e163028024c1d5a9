#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::testing {
namespace {

// As somebody else bound it.
ClusterPod bound(const std::string& name, int asks) {
  ClusterPod pod;
  pod.ask = World::ask(name, asks);
  pod.node = "n1";
  return pod;
}

// With these chips in its annotation.
Placement placement(const ClusterPod& pod, std::vector<int> chips) {
  Placement said;
  said.node = pod.node;
  said.uid = pod.ask.uid;
  said.resource = pod.ask.resource;
  said.chips = std::move(chips);
  return said;
}

TEST(Adopt, APodHasTheChipsThatItsPlacementNames) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const ClusterPod pod = bound("p", 2);
  const Placement pod_says = placement(pod, {1, 6});
  w.scheduler.pod_added(pod, &pod_says);
  EXPECT_EQ(w.chips(pod.ask), (std::vector<int>{1, 6}));
  EXPECT_EQ(w.scheduler.ledger().find(pod.ask.uid)->unattributed(), 0);
}

TEST(Adopt, APodThatNamesAChipOfAnotherCountsWithAsManyOthers) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const ClusterPod owner = bound("owner", 2);
  const Placement owner_says = placement(owner, {0, 3});
  w.scheduler.pod_added(owner, &owner_says);
  const ClusterPod liar = bound("liar", 2);
  const Placement liar_says = placement(liar, {3, 7});
  w.scheduler.pod_added(liar, &liar_says);
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
