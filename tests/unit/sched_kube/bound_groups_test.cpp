// Members of a group (ACK's gpu-topology) that others bound, and whose chips become known later.
#include <gtest/gtest.h>

#include "scheduler-plugin/app/annotations.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::seconds;

constexpr const char* kGpuGroup = "topology.kubernetes.io/gpu-group";

class BoundGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.api.settle();
  }
  void TearDown() override {
    EXPECT_EQ(world_.scheduler->check_invariants(), "");
    world_.come_to_rest();
    EXPECT_EQ(world_.scheduler->check_invariants(), "");
    world_.expect_no_chip_twice();
  }
  void create(const std::string& name, int chips, bool member) {
    const std::map<std::string, std::string> group{{"gpu-topology", "t"},
                                                   {"gpu-topology-replica", "2"}};
    world_.create(name, chips, "aliyun.com/gpu",
                  member ? group : std::map<std::string, std::string>());
    world_.api.settle();
  }
  std::string note(const std::string& pod, std::initializer_list<int> chips) {
    std::string list;
    for (const int chip : chips)
      list += (list.empty() ? "" : ",") + std::string(R"({"index":)") + std::to_string(chip) + "}";
    return R"({"v":1,"node":"n1","podUid":")" + world_.pod(pod).uid +
           R"(","resource":"aliyun.com/gpu","chips":[)" + list +
           R"(],"gbps":40.0,"decision":"d-000041","time":"2026-01-02T03:04:05Z"})";
  }
  void bind_by_others(const std::string& pod, const std::string& placement = {}) {
    const bool placed = !placement.empty();
    world_.api.set_node("ns/" + pod, "n1",
                        placed ? Annotations{{kPlacementAnnotation, placement}} : Annotations{});
    world_.api.settle();
  }
  void reserve(const std::string& pod) {
    const auto nodes = world_.all_nodes();
    (void)world_.scheduler->extender().prioritize(world_.request(world_.pod(pod)), nodes);
  }
  KubeWorld world_;
};

TEST_F(BoundGroups, AMembersChipsAreToldLater) {
  create("w-0", 1, true);
  create("w-1", 1, true);
  bind_by_others("w-0");
  EXPECT_TRUE(world_.holding("w-0")->assumed);
  world_.api.annotate("ns/w-0", kGpuGroup, "5");
  world_.api.settle();
  EXPECT_EQ(world_.held("w-0"), std::vector<int>{5});
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
  reserve("w-1");
  EXPECT_EQ(world_.held("w-1").size(), 1U);
}

TEST_F(BoundGroups, TheReservationOfTheOthersEndsWhenAMembersChipsAreTold) {
  create("w-0", 1, true);
  create("w-1", 1, true);
  bind_by_others("w-0");
  reserve("w-1");
  ASSERT_EQ(world_.held("w-1").size(), 1U);
  world_.api.annotate("ns/w-0", kPlacementAnnotation, note("w-0", {5}));
  world_.api.settle();
  EXPECT_EQ(world_.held("w-0"), std::vector<int>{5});
  EXPECT_TRUE(world_.held("w-1").empty()) << "it was planned around another chip";
  reserve("w-1");
  EXPECT_EQ(world_.held("w-1").size(), 1U);
}

TEST_F(BoundGroups, AMemberThatIsPlacedAfterItsBindingWaitsForRoom) {
  world_.options.decide_after_bind = true;
  world_.restart();
  world_.api.settle();
  create("b", 8, false);
  bind_by_others("b", note("b", {0, 1, 2, 3, 4, 5, 6, 7}));
  create("w-0", 1, true);
  create("w-1", 1, true);
  bind_by_others("w-0");
  for (int i = 0; i < 3; ++i) {
    world_.pass(seconds(1));
    world_.api.settle();
    EXPECT_TRUE(world_.holding("w-0")->assumed);
    EXPECT_EQ(world_.scheduler->check_invariants(), "");
  }
  world_.api.remove("ns/b");
  world_.api.settle();
  world_.pass(seconds(1));
  world_.api.settle();
  EXPECT_EQ(world_.annotated("w-0").size(), 1U);
}

// Its part goes back to the group, and lasts as long as the others.
TEST_F(BoundGroups, AFailedBindingOfAMemberLeavesTheGroupItsChips) {
  create("w-0", 2, true);
  create("w-1", 2, true);
  reserve("w-0");
  reserve("w-1");
  const auto reserved = world_.held("w-1");
  ASSERT_EQ(reserved.size(), 2U);
  world_.api.refuse_next_binding(422);
  const auto refused = world_.bind("w-0", "n1");
  world_.api.settle();
  EXPECT_NE(*refused, "bound");
  world_.pass(seconds(1));
  EXPECT_EQ(world_.held("w-1"), reserved);
  EXPECT_EQ(world_.scheduler->ledger().reserved(), 2U) << "the part waits for w-0";
  const auto again = world_.bind("w-0", "n1");
  world_.api.settle();
  EXPECT_EQ(*again, "bound");
  EXPECT_EQ(world_.held("w-1"), reserved);
}

// Else the part would get its chip back when the node does, even if another pod has it by then.
TEST_F(BoundGroups, AFailedBindingOfAMemberWhoseChipsAreGoneEndsTheGroup) {
  create("w-0", 4, true);
  create("w-1", 4, true);
  reserve("w-0");
  reserve("w-1");
  const std::string member = world_.held("w-0").back() > 3 ? "w-0" : "w-1";
  const auto lost = world_.held(member);
  ASSERT_EQ(lost.size(), 4U);
  world_.api.refuse_next_binding(422);
  const auto refused = world_.bind(member, "n1");
  world_.add_node("n1", "hgx-a100-4");
  world_.feed_all();
  world_.api.settle();
  EXPECT_NE(*refused, "bound");
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
  EXPECT_EQ(world_.scheduler->ledger().reserved(), 0U);
  create("b", 4, false);
  bind_by_others("b", note("b", {lost[0], lost[1], lost[2], lost[3]}));
  world_.add_node("n1", "hgx-v100-8");
  world_.api.settle();
  EXPECT_EQ(world_.held("b"), lost);
}

// A member's claim is honoured when its dispute ends: whatever of that is reserved for the other
// member by then.
TEST_F(BoundGroups, AClaimThatIsNoLongerContestedEndsTheReservationOfTheOthers) {
  for (int chip = 4; chip < 8; ++chip) {
    SCOPED_TRACE(chip);
    create("b", 2, false);
    create("c", 2, false);
    bind_by_others("b", note("b", {0, 3}));
    bind_by_others("c", note("c", {1, 2}));
    create("w-0", 2, true);
    create("w-1", 2, true);
    world_.api.set_started("ns/w-0");
    bind_by_others("w-0", note("w-0", {0, chip}));
    ASSERT_TRUE(world_.holding("w-0")->assumed);
    reserve("w-1");
    ASSERT_EQ(world_.held("w-1").size(), 2U);
    world_.api.remove("ns/b");
    world_.api.settle();
    EXPECT_EQ(world_.held("w-0"), (std::vector<int>{0, chip}));
    EXPECT_EQ(world_.scheduler->check_invariants(), "");
    for (const char* name : {"c", "w-0", "w-1"}) world_.api.remove(std::string("ns/") + name);
    world_.api.settle();
  }
}

}  // namespace
}  // namespace chipweave::sched::test
