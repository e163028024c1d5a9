// Chips that are handed over by ResourceClaims: made before a pod is bound, ended if it is not.
#include <gtest/gtest.h>

#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ClaimedPods : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.shared->enforcement = domain::Enforcement::dra;
    world_.add_node("n1", "hgx-v100-8");
    settle();
  }
  void settle() {
    world_.api.settle();
    world_.tick();
    world_.api.settle();
  }
  void later(milliseconds time) {
    for (milliseconds passed{0}; passed < time; passed += milliseconds(100)) {
      world_.pass(milliseconds(100));
      world_.api.settle();
    }
  }
  std::string bind(const std::string& name) {
    const auto result = world_.bind(name, "n1");
    settle();
    later(seconds(1));
    return *result;
  }
  std::vector<std::string> devices(const std::string& pod) const {
    return world_.api.pod_claims.devices("chipweave-" + world_.pod(pod).uid);
  }
  int free() const {
    const NodeTable& nodes = world_.scheduler->nodes();
    return nodes.node(nodes.find("n1")).free().size();
  }
  KubeWorld world_;
};

TEST_F(ClaimedPods, HaveTheDevicesOfTheirAnnotations) {
  for (const auto& [name, chips] : std::map<std::string, int>{{"a", 1}, {"b", 3}, {"c", 4}}) {
    world_.create(name, chips);
    settle();
    EXPECT_EQ(bind(name), "bound");
    EXPECT_EQ(devices(name).size(), static_cast<std::size_t>(chips));
  }
  world_.expect_claims_are_the_annotations();
  EXPECT_EQ(free(), 0);
  world_.api.remove("ns/b");
  later(seconds(1));
  EXPECT_EQ(world_.api.pod_claims.owners().size(), 2U);
  EXPECT_EQ(free(), 3);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(ClaimedPods, AreNotBoundIfTheClaimIsRefused) {
  world_.create("a", 2);
  settle();
  world_.api.refuse_next_claim(403);
  EXPECT_NE(bind("a"), "bound");
  EXPECT_EQ(world_.pod("a").node, "");
  EXPECT_EQ(free(), 8);
  EXPECT_TRUE(world_.api.pod_claims.owners().empty());
  EXPECT_EQ(bind("a"), "bound");
  world_.expect_claims_are_the_annotations();
}

TEST_F(ClaimedPods, HaveNoClaimIfTheBindingIsRefused) {
  world_.create("a", 2);
  settle();
  world_.api.refuse_next_binding(422);
  EXPECT_NE(bind("a"), "bound");
  EXPECT_TRUE(world_.api.pod_claims.owners().empty());
  EXPECT_EQ(free(), 8);
}

// Other allocators would give these devices away, too.
TEST_F(ClaimedPods, AreNotBoundToDevicesThatOthersGiveAway) {
  world_.create("a", 2);
  world_.api.set_slice("n1", {gpu_id("n1", 0), gpu_id("n1", 1), gpu_id("n1", 2), gpu_id("n1", 3),
                              gpu_id("n1", 4), gpu_id("n1", 5), gpu_id("n1", 6), gpu_id("n1", 7)});
  world_.api.settle();  // the chips are withheld a moment later
  EXPECT_NE(bind("a").find("lacks the taint chipweave.dev/managed"), std::string::npos);
  EXPECT_EQ(world_.pod("a").node, "");
}

TEST_F(ClaimedPods, OfMoreChipsThanAClaimCanHaveAreNotBound) {
  std::string chips;
  for (int i = 0; i < 40; ++i)
    chips += (i > 0 ? ",{\"index\":" : "{\"index\":") + std::to_string(i) + "}";
  world_.add_machine(
      "big", "forty",
      R"({"vendor":"nvidia","host_gbps":{"SYS":20},"chips":[)" + chips + R"(],"host_groups":[]})");
  world_.create("a", 33);
  world_.create("b", 32);
  settle();
  const auto refused = world_.bind("a", "big");
  settle();
  EXPECT_NE(refused->find("at most 32 devices; the pod has 33 chips"), std::string::npos)
      << *refused;
  EXPECT_TRUE(world_.api.pod_claims.owners().empty());
  EXPECT_EQ(world_.scheduler->ledger().reserved(), 0U);
  const auto bound = world_.bind("b", "big");
  settle();
  later(seconds(1));
  EXPECT_EQ(*bound, "bound");
}

TEST_F(ClaimedPods, WaitUntilTheirDevicesAreNoOnesAnyMore) {
  world_.create("a", 8);
  settle();
  EXPECT_EQ(bind("a"), "bound");
  world_.api.remove("ns/a");
  world_.api.settle();
  world_.create("b", 8);
  world_.api.settle();
  const auto result = world_.bind("b", "n1");
  world_.api.settle();
  EXPECT_EQ(*result, "") << "the claim of a is there";
  later(seconds(1));
  EXPECT_EQ(*result, "bound");
  world_.expect_claims_are_the_annotations();
}

// The watch of claims lags: the scheduler knows of the claim because it has made it.
TEST_F(ClaimedPods, WaitForAClaimThatNoWatchHasShown) {
  world_.api.controllers = false;
  const auto all_but_claims = [this] {
    for (int i = 0; i < 20; ++i) {
      while (world_.api.waiting() > 0) world_.api.take(0, SimulatedApi::Fate::answered);
      for (std::size_t n = 0; n < world_.api.watches(); ++n) {
        if (!world_.api.watches(n, "/apis/resource.k8s.io/v1/resourceclaims"))
          world_.api.feed(n, 1'000'000);
      }
      world_.pass(milliseconds(50));
    }
  };
  world_.create("a", 8);
  all_but_claims();
  const auto a = world_.bind("a", "n1");
  all_but_claims();
  ASSERT_EQ(*a, "bound");
  world_.api.remove("ns/a");
  world_.create("b", 8);
  all_but_claims();
  const auto b = world_.bind("b", "n1");
  all_but_claims();
  EXPECT_EQ(*b, "") << "the claim of a is there";
  EXPECT_TRUE(world_.api.pod_claims.allocated_twice().empty());
  world_.api.controllers = true;
  later(seconds(1));
  EXPECT_EQ(*b, "bound");
  world_.expect_claims_are_the_annotations();
}

// kube-controller-manager has missed that the pod is gone, and so has a new process.
TEST_F(ClaimedPods, OfPodsThatAreGoneAreEndedAfterAMinute) {
  world_.api.controllers = false;
  for (const char* name : {"a", "b"}) {
    world_.create(name, 4);
    settle();
    ASSERT_EQ(bind(name), "bound");
  }
  world_.kill();
  world_.api.remove("ns/a");
  world_.create("a", 2);  // another of that name
  world_.start();
  settle();
  later(seconds(55));
  EXPECT_EQ(world_.api.pod_claims.owners().size(), 2U);
  later(seconds(10));
  EXPECT_EQ(world_.api.pod_claims.owners(), std::vector<std::string>{world_.pod("b").uid});
  EXPECT_EQ(free(), 4);
  EXPECT_EQ(bind("a"), "bound");
  world_.expect_claims_are_the_annotations();
}

// Killed after each of the requests that a binding takes.
TEST_F(ClaimedPods, LeaveNoClaimBehindWhenTheSchedulerIsKilled) {
  for (int calls = 1; calls <= 6; ++calls) {
    SCOPED_TRACE(calls);
    world_.create("a", 3);
    settle();
    (void)world_.bind("a", "n1");
    for (int i = 0; i < calls && world_.api.waiting() > 0; ++i)
      world_.api.take(0, SimulatedApi::Fate::answered);
    world_.kill();
    world_.start();
    settle();
    later(seconds(2));
    if (world_.pod("a").node.empty()) {
      EXPECT_TRUE(world_.api.pod_claims.owners().empty());
      EXPECT_EQ(free(), 8);
      EXPECT_EQ(bind("a"), "bound");
    }
    world_.expect_claims_are_the_annotations();
    world_.expect_ledger_is_the_truth();
    world_.api.remove("ns/a");
    later(seconds(1));
  }
}

}  // namespace
}  // namespace chipweave::sched::test
