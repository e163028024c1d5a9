// Reconciler alone: what the cluster reports of pods.
#include "scheduler-plugin/app/reconciler.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/fake_cluster.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::seconds;

struct Reconciles : ::testing::Test, FakeCore {
  Reconciles() { add_node("n1"); }
  ClusterPod& arrives(const std::string& name, int chips) {
    ClusterPod pod;
    pod.request = World::request(name, chips);
    ClusterPod& kept = cluster.pods[pod.request.key] = pod;
    reconciler.pod_added(kept, nullptr);
    return kept;
  }
  Placement placement(const ClusterPod& pod, std::vector<int> chips) {
    Placement placement;
    placement.node = "n1";
    placement.uid = pod.request.uid;
    placement.resource = pod.request.resource;
    placement.chips = std::move(chips);
    return placement;
  }
  // Bound by another scheduler.
  void is_bound(ClusterPod& pod, const Placement* claimed) {
    pod.node = "n1";
    reconciler.pod_bound(pod, claimed);
  }

  Evaluator evaluator{core.state.nodes};
  Reservations reservations{core, evaluator, seconds(30)};
  Nominations nominations{core, evaluator, reservations};
  Gangs gangs{core, reservations};
  Decisions decisions{core};
  BoundPods bound_pods{core, reservations, decisions};
  Admissions admissions{core, evaluator, reservations, decisions, bound_pods, gangs};
  BindCoordinator bindings{core, reservations, decisions, bound_pods, admissions, gangs, {}};
  KubeletTruth truth{core, bound_pods};
  Reconciler reconciler{core,       reservations, nominations, gangs,    decisions,
                        bound_pods, truth,        admissions,  bindings, false};
};

TEST_F(Reconciles, APodWaitsUntilItIsBound) {
  ClusterPod& pod = arrives("p", 4);
  EXPECT_EQ(state_of(pod), PodState::pending);
  const Placement claimed = placement(pod, {0, 1, 2, 3});
  is_bound(pod, &claimed);
  EXPECT_EQ(state_of(pod), PodState::bound);
  EXPECT_EQ(held(pod)->chips, domain::ChipSet(0xf));
  EXPECT_EQ(observer.count<PodWaitsNoMore>(), 1U);
}

TEST_F(Reconciles, WithoutAPlacementItsChipsAreGuessedAndThenLearned) {
  ClusterPod& pod = arrives("p", 4);
  is_bound(pod, nullptr);
  EXPECT_EQ(state_of(pod), PodState::assumed);
  EXPECT_EQ(held(pod)->unattributed(), 4);
  const Placement claimed = placement(pod, {4, 5, 6, 7});
  is_bound(pod, &claimed);
  EXPECT_EQ(state_of(pod), PodState::bound);
  EXPECT_EQ(held(pod)->chips, domain::ChipSet(0xf0));
}

TEST_F(Reconciles, APlacementThatCannotBeItsOwnIsNone) {
  ClusterPod& pod = arrives("p", 4);
  const Placement of_three = placement(pod, {0, 1, 2});
  is_bound(pod, &of_three);
  EXPECT_EQ(state_of(pod), PodState::assumed);
}

TEST_F(Reconciles, ChipsOfAnotherPodAreDisputed) {
  ClusterPod& first = arrives("first", 4);
  ClusterPod& second = arrives("second", 4);
  const Placement one = placement(first, {0, 1, 2, 3});
  const Placement same = placement(second, {0, 1, 2, 3});
  is_bound(first, &one);
  is_bound(second, &same);
  EXPECT_EQ(state_of(second), PodState::disputed);
  reconciler.pod_gone(first);
  EXPECT_EQ(state_of(second), PodState::bound) << "the deletion was late";
  EXPECT_EQ(held(second)->chips, domain::ChipSet(0xf));
}

TEST_F(Reconciles, NothingIsLeftOfAPodThatIsGone) {
  ClusterPod& pod = arrives("p", 4);
  bindings.bind({pod.request.key, pod.request.uid, "n1"}, [](const Result<void>&) {});
  reconciler.pod_gone(pod);
  EXPECT_EQ(core.state.records.find(pod.request.uid), nullptr);
  EXPECT_EQ(held(pod), nullptr);
  EXPECT_EQ(core.state.nodes.node(node("n1")).free().size(), 8);
  EXPECT_EQ(observer.count<PodWaitsNoMore>(), 1U);
  cluster.bindings[0].done({});  // a late answer changes nothing
  EXPECT_EQ(core.state.ledger.bound(), 0U);
}

TEST_F(Reconciles, ABindingElsewhereEndsOurs) {
  add_node("n2");
  ClusterPod& pod = arrives("p", 4);
  std::string outcome;
  bindings.bind({pod.request.key, pod.request.uid, "n2"},
                [&](const Result<void>& result) { outcome = result.error().text(); });
  is_bound(pod, nullptr);
  EXPECT_EQ(outcome, "pod ns/p was bound to node n1 by another scheduler");
  EXPECT_EQ(held(pod)->node, node("n1"));
  EXPECT_EQ(core.state.nodes.node(node("n2")).holders, 0U);
}

}  // namespace
}  // namespace chipweave::sched::test
