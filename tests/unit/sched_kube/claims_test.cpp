// Chips behind DRA ResourceClaims: which ones they are, by the ResourceSlices of their drivers.
#include <gtest/gtest.h>

#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Chips = std::vector<int>;

class Claims : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.api.settle();
  }
  // The driver calls chips by other numbers than the vendor's tool.
  void publish_slice(const Chips& chips = {7, 6, 5, 4, 3, 2, 1, 0}) {
    std::vector<std::string> ids;
    for (const int chip : chips) ids.push_back(gpu_id("n1", chip));
    world_.api.set_slice("n1", ids);
    settle();
  }
  void claim(const std::string& name, int devices, const std::string& pod = "") {
    world_.api.set_claim(name,
                         std::vector<std::pair<std::string, std::string>>(
                             static_cast<std::size_t>(devices), {"gpu.nvidia.com", "n1"}),
                         pod);
    settle();
  }
  void settle() {
    world_.api.settle();
    world_.tick();
    world_.api.settle();
  }
  Chips free() const {
    const Node& node = world_.scheduler->nodes().node(world_.scheduler->nodes().find("n1"));
    return node.topology.indices(node.free());
  }
  std::size_t unknown() const {
    std::size_t out = 0;
    const auto& ledger = world_.scheduler->ledger();
    for (const Holding* held : ledger.on(world_.scheduler->nodes().find("n1")))
      out += static_cast<std::size_t>(held->unattributed());
    return out;
  }
  KubeWorld world_;
};

TEST_F(Claims, TakeTheChipsThatTheirDevicesAre) {
  publish_slice();
  claim("c", 2);
  EXPECT_EQ(free(), (Chips{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(unknown(), 0U);
  claim("c", 3);
  EXPECT_EQ(free(), (Chips{0, 1, 2, 3, 4}));
  claim("c", 0);
  EXPECT_EQ(free().size(), 8U);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(Claims, AreLearnedWhenTheSliceComes) {
  claim("c", 2);
  EXPECT_EQ(free().size(), 6U);
  EXPECT_EQ(unknown(), 2U);
  publish_slice();
  EXPECT_EQ(free(), (Chips{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(unknown(), 0U);
  world_.restart();
  settle();
  EXPECT_EQ(free(), (Chips{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(Claims, OfDevicesThatAreNoChipsOfTheNodeStayGuesses) {
  world_.api.set_slice("n1", {"GPU-of-another-machine", gpu_id("n1", 3), gpu_id("n1", 3)});
  settle();
  claim("a", 1);
  EXPECT_EQ(unknown(), 1U);
  claim("b", 3);
  EXPECT_EQ(unknown(), 4U);
  EXPECT_EQ(free().size(), 4U);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

// kube-scheduler makes a claim for a pod that requests nvidia.com/gpu where a class has that name.
TEST_F(Claims, OfAPodThatRequestsAnExtendedResourceAreThePodsChips) {
  publish_slice();
  world_.create("p", 2);
  settle();
  world_.api.set_node("ns/p", "n1", {});
  settle();
  EXPECT_EQ(unknown(), 2U);
  claim("c", 2, world_.pod("p").uid);
  EXPECT_EQ(world_.held("p"), (Chips{6, 7}));
  EXPECT_EQ(free(), (Chips{0, 1, 2, 3, 4, 5})) << "not counted twice";
  world_.restart();
  settle();
  EXPECT_EQ(world_.held("p"), (Chips{6, 7}));
  world_.api.remove("ns/p");
  settle();
  EXPECT_EQ(free().size(), 8U);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(Claims, ThatComeBeforeTheirPodAreRemembered) {
  publish_slice();
  world_.create("p", 2);
  settle();
  claim("c", 2, world_.pod("p").uid);
  EXPECT_EQ(free().size(), 8U) << "the pod is not bound yet";
  world_.api.set_node("ns/p", "n1", {});
  settle();
  EXPECT_EQ(world_.held("p"), (Chips{6, 7}));
  EXPECT_EQ(unknown(), 0U);
}

}  // namespace
}  // namespace chipweave::sched::test
