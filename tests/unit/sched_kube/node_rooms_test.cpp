// CPU and memory of nodes: from Node objects and the pods bound to them, with chips or without.
#include "scheduler-plugin/state/node_rooms.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched_kube/two_nodes.hpp"

namespace chipweave::sched::test {
namespace {

class Rooms : public TwoNodes {
 protected:
  solver::Room room(const std::string& node) const {
    const NodeTable& nodes = world_.scheduler->nodes();
    return nodes.node(nodes.find(node)).room;
  }
  void bind_elsewhere(const std::string& name, const std::string& node) {
    world_.api.set_node("ns/" + name, node);
    world_.api.settle();
  }
  void pod(const std::string& name, int chips, int cores) {
    ServerPod made;
    made.ns = "ns";
    made.name = name;
    made.resource = "nvidia.com/gpu";
    made.chips = chips;
    made.cores = cores;
    world_.api.create(std::move(made));
    world_.api.settle();
  }
};

TEST_F(Rooms, AreWhatNoBoundPodRequests) {
  EXPECT_FALSE(room("n1").known) << "no Node object yet";
  world_.api.create_node("n1", 96);
  world_.api.settle();
  EXPECT_EQ(room("n1"), (solver::Room{true, 96, 1024}));
  EXPECT_FALSE(room("n2").known);
  pod("waits", 1, 8);
  EXPECT_EQ(room("n1").cores, 96) << "it is on no node";
  pod("bare", 0, 30);
  bind_elsewhere("bare", "n1");
  EXPECT_EQ(room("n1"), (solver::Room{true, 66, 1023}));
  bind_elsewhere("waits", "n1");
  EXPECT_EQ(room("n1"), (solver::Room{true, 58, 1022}));
  world_.api.remove("ns/bare");
  world_.api.settle();
  EXPECT_EQ(room("n1").cores, 88);
  world_.api.create_node("n1", 64);
  world_.api.settle();
  EXPECT_EQ(room("n1").cores, 56) << "its kubelet reports less";
  world_.restart();
  world_.api.settle();
  EXPECT_EQ(room("n1").cores, 56) << "after a restart as well";
  world_.api.remove("ns/waits");
  world_.api.settle();
  EXPECT_EQ(room("n1").cores, 64);
}

TEST_F(Rooms, AreTakenByOurOwnBindingOnce) {
  world_.api.create_node("n1", 96);
  pod("p", 2, 10);
  world_.fit("p");
  const auto outcome = world_.bind("p", "n1");
  world_.api.settle();
  EXPECT_EQ(*outcome, "bound");
  EXPECT_EQ(room("n1").cores, 86);
}

TEST_F(Rooms, EndWithTheNode) {
  world_.api.create_node("n1", 96);
  world_.api.settle();
  pod("p", 1, 10);
  bind_elsewhere("p", "n1");
  world_.api.delete_node("n1");
  world_.api.settle();
  EXPECT_FALSE(room("n1").known);
  world_.api.create_node("n1", 32);
  world_.add_node("n1", "hgx-v100-8");
  world_.api.settle();
  EXPECT_EQ(room("n1").cores, 22) << "the pod is still there";
}

// Most pods that come need twelve cores for their chip.
TEST_F(Rooms, DecideAmongNodesThatAreEquallyFast) {
  world_.api.create_node("n1", 96);
  world_.api.create_node("n2", 96);
  world_.api.settle();
  for (int i = 0; i < 8; ++i) pod("w" + std::to_string(i), 1, 12);
  pod("small", 1, 1);
  pod("bare", 0, 91);
  bind_elsewhere("bare", "n1");
  bind_elsewhere("w7", "n2");
  world_.scheduler->tick();
  const std::vector<std::string_view> names{"n1", "n2"};
  const auto best = [&] {
    const Evaluation& e = world_.scheduler->extender().in_session(
        Verb::prioritize, world_.request(world_.pod("small")), names);
    return world_.scheduler->nodes().node(e.best_node).name;
  };
  EXPECT_EQ(best(), "n1") << "most pods cannot use its chips anyway";
  world_.api.remove("ns/bare");
  world_.api.settle();
  EXPECT_EQ(best(), "n2") << "where no pod of eight chips fits any more";
}

// Whatever a scheduler offers: it may not have seen the taint yet.
TEST_F(Rooms, NodesThatAreNotReadyHaveNoneForGangs) {
  const auto gang = [&](const std::string& name) {
    for (int i = 0; i < 2; ++i) {
      ServerPod pod;
      pod.ns = "ns";
      pod.name = name + std::to_string(i);
      pod.resource = "nvidia.com/gpu";
      pod.chips = 4;
      pod.labels = {{"chipweave.dev/gang", name},
                    {"chipweave.dev/gang-size", "2"},
                    {"chipweave.dev/gang-index", std::to_string(i)}};
      world_.api.create(std::move(pod));
    }
    world_.api.settle();
    return world_.fit(name + "0");
  };
  using FitNames = decltype(world_.fit("a"));
  for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    world_.api.create_tainted_node("n1", taint);
    world_.api.settle();
    EXPECT_EQ(gang(std::string("g") + taint[19]), FitNames{"n2"}) << taint;
    world_.api.remove("ns/g" + std::string(1, taint[19]) + "0");
    world_.api.remove("ns/g" + std::string(1, taint[19]) + "1");
    world_.api.settle();
  }
  world_.api.create_tainted_node("n1", "example.com/other");
  world_.api.settle();
  EXPECT_EQ(gang("other"), FitNames{"n2"}) << "its pods do not tolerate it";
  for (const char* pod : {"ns/other0", "ns/other1"}) world_.api.remove(pod);
  world_.api.settle();
}

TEST(NodeRooms, KeepNothingOfNodesThatAreGone) {
  NodeTable nodes;
  NodeRooms rooms(nodes);
  rooms.add_use("n", {1000, 5});
  rooms.set_allocatable("n", NodeUse{8000, 100});
  EXPECT_EQ(rooms.size(), 1U);
  rooms.set_allocatable("n", std::nullopt);
  EXPECT_EQ(rooms.size(), 1U);
  rooms.add_use("n", {-1000, -5});
  EXPECT_EQ(rooms.size(), 0U);
  rooms.set_allocatable("other", std::nullopt);
  EXPECT_EQ(rooms.size(), 0U);
}

}  // namespace
}  // namespace chipweave::sched::test
