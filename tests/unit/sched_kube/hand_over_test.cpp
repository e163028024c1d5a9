// Chips that DRA cannot hand over are not given to pods.
#include "scheduler-plugin/kube/dra/hand_over_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> first_ids(int chips) {
  std::vector<std::string> out(static_cast<std::size_t>(chips));
  std::generate(out.begin(), out.end(), [chip = 0]() mutable { return gpu_id("n1", chip++); });
  return out;
}

class HandOver : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.shared->enforcement = domain::Enforcement::dra;
    world_.add_node("n1", "hgx-v100-8");
    settle();
  }
  void settle() {
    world_.api.settle();
    world_.pass(milliseconds(100));
    world_.api.settle();
    world_.tick();
    world_.api.settle();
  }
  // The chips as devices of one driver.
  void offer(int chips, bool managed = true) {
    world_.api.set_slice("n1", first_ids(chips), managed);
    settle();
  }
  const Node& node() const {
    const NodeTable& nodes = world_.scheduler->nodes();
    return nodes.node(nodes.find("n1"));
  }
  bool fits(const std::string& name, int chips) {
    world_.create(name, chips);
    settle();
    return !world_.fit(name).empty();
  }
  std::string why(const std::string& name) {
    return world_.scheduler->placements().explain({"ns", name})->json;
  }
  KubeWorld world_;
};

TEST_F(HandOver, WithholdsNothingThatOneDriverOffersManaged) {
  EXPECT_TRUE(node().withheld.empty());
  EXPECT_TRUE(fits("all", 8));
  EXPECT_THAT(world_.api.events, Not(Contains("ChipsWithheld")));
}

TEST_F(HandOver, WithholdsChipsThatNoDriverOffers) {
  offer(6);
  EXPECT_EQ(node().free().size(), 6);
  EXPECT_FALSE(fits("all", 8));
  EXPECT_THAT(why("all"),
              HasSubstr("if chips 6,7 of n1 could be handed over (chip.withheld: no DRA "
                        "driver offers it in its ResourceSlices)"));
  EXPECT_TRUE(fits("six", 6));
  EXPECT_THAT(world_.api.events, Contains("ChipsWithheld"));
  EXPECT_EQ(world_.api.notes.front(),
            "Chips 6,7 are not given to pods, because DRA cannot hand them over: chip 6: no DRA "
            "driver offers it in its ResourceSlices");
}

TEST_F(HandOver, WithholdsChipsThatOthersGiveAway) {
  offer(8, false);
  EXPECT_EQ(node().free().size(), 0);
  EXPECT_FALSE(fits("p", 1));
  EXPECT_THAT(why("p"), HasSubstr("lacks the taint"));
}

TEST_F(HandOver, WithholdsAChipThatIsTwoDevices) {
  world_.api.set_slice(
      "n1",
      {gpu_id("n1", 0), gpu_id("n1", 1), gpu_id("n1", 2), gpu_id("n1", 3), gpu_id("n1", 4),
       gpu_id("n1", 5), gpu_id("n1", 6), gpu_id("n1", 7), gpu_id("n1", 3)},
      true);
  settle();
  EXPECT_EQ(node().free(), domain::ChipSet::first(8) - domain::ChipSet{3});
  EXPECT_FALSE(fits("all", 8));
  EXPECT_THAT(why("all"), HasSubstr("DRA drivers offer it as two devices"));
}

// A copied disk image, or a driver that reads another machine's files.
TEST_F(HandOver, TakesNoDevicesOfOtherNodesForItsOwn) {
  world_.add_node("n2", "hgx-v100-8");
  world_.api.set_slice("n2", first_ids(8), true);
  settle();
  EXPECT_TRUE(node().withheld.empty());
  const NodeTable& nodes = world_.scheduler->nodes();
  EXPECT_EQ(nodes.node(nodes.find("n2")).withheld.size(), 8U);
  world_.create("all", 8);
  settle();
  EXPECT_EQ(world_.fit("all"), std::vector<std::string>{"n1"});
}

TEST_F(HandOver, GivesThemBackAndLetsPodsTryAgain) {
  offer(0);
  EXPECT_FALSE(fits("p", 2));
  const std::uint64_t gains = world_.scheduler->nodes().gains();
  offer(8);
  EXPECT_GT(world_.scheduler->nodes().gains(), gains);
  EXPECT_EQ(world_.fit("p"), std::vector<std::string>{"n1"});
  EXPECT_TRUE(node().faults.empty());
}

TEST_F(HandOver, KeepsWhatTheAgentReports) {
  offer(6);
  world_.add_node("n1", "hgx-v100-8", {{0, domain::Health::unhealthy}});
  offer(6);
  EXPECT_EQ(node().free().size(), 5);
  offer(8);
  EXPECT_EQ(node().free().size(), 7);
  EXPECT_EQ(node().unhealthy, domain::ChipSet{0});
}

TEST_F(HandOver, LeavesRunningPodsTheirChips) {
  world_.create("a", 8);
  settle();
  const auto bound = world_.bind("a", "n1");
  for (int i = 0; i < 10; ++i) settle();
  ASSERT_EQ(*bound, "bound");
  const std::vector<int> chips = world_.held("a");
  offer(0);
  EXPECT_EQ(world_.held("a"), chips);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST(HandOverOfOtherNodes, IsNotChecked) {
  KubeWorld world;
  world.add_node("n1", "hgx-v100-8");
  world.api.settle();
  world.tick();
  world.create("p", 8);
  world.api.settle();
  EXPECT_EQ(world.fit("p"), std::vector<std::string>{"n1"});
}

}  // namespace
}  // namespace chipweave::sched::test
