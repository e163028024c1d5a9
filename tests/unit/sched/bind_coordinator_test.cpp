// BindCoordinator and Admissions alone, with a cluster that answers when the test tells it to.
#include "scheduler-plugin/app/bind_coordinator.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/sched/fake_cluster.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::seconds;

struct Binds : ::testing::Test, FakeCore {
  Binds() {
    add_node("n1");
    add_node("n2");
  }
  // "bound", or the error; empty as long as there is no answer.
  std::shared_ptr<std::string> bind(const ClusterPod& pod, const std::string& node) {
    auto outcome = std::make_shared<std::string>();
    bindings.bind({pod.request.key, pod.request.uid, node}, [outcome](const Result<void>& result) {
      *outcome = result ? "bound" : result.error().text();
    });
    return outcome;
  }
  bool admit(const ClusterPod& pod, const std::string& node) {
    bool admitted = false;
    admissions.admit({{pod.request.key, pod.request.uid, node}, "", false},
                     [&](const Result<Admission>& result) { admitted = result.ok(); });
    return admitted;
  }

  Evaluator evaluator{core.state.nodes};
  Reservations reservations{core, evaluator, seconds(30)};
  Gangs gangs{core, reservations};
  Decisions decisions{core};
  BoundPods bound_pods{core, reservations, decisions};
  Admissions admissions{core, evaluator, reservations, decisions, bound_pods, gangs};
  BindCoordinator bindings{core, reservations, decisions, bound_pods, admissions, gangs, {}};
};

TEST_F(Binds, ThePodIsBoundWhenTheClusterSaysSo) {
  const ClusterPod& pod = add_pod("p", 4);
  const auto outcome = bind(pod, "n1");
  ASSERT_EQ(cluster.bindings.size(), 1U);
  EXPECT_EQ(*outcome, "");
  EXPECT_EQ(state_of(pod), PodState::binding);
  EXPECT_FALSE(cluster.bindings[0].annotations.empty());
  cluster.bindings[0].done({});
  EXPECT_EQ(*outcome, "bound");
  EXPECT_EQ(state_of(pod), PodState::bound);
  EXPECT_EQ(core.state.stored, 1U);
  EXPECT_EQ(observer.count<PodPlaced>(), 1U);
}

TEST_F(Binds, ARepeatedBindSendsTheSameAndAllCallersAreAnswered) {
  const ClusterPod& pod = add_pod("p", 4);
  const auto first = bind(pod, "n1");
  const auto second = bind(pod, "n1");
  EXPECT_EQ(cluster.bindings.size(), 1U);
  cluster.bindings[0].done(make_error(Errc::unavailable, "no answer"));
  EXPECT_EQ(*first, *second);
  EXPECT_NE(*first, "");
  EXPECT_EQ(state_of(pod), PodState::uncertain);
  const auto third = bind(pod, "n1");
  ASSERT_EQ(cluster.bindings.size(), 2U);
  EXPECT_EQ(cluster.bindings[1].annotations, cluster.bindings[0].annotations);
  cluster.bindings[1].done({});
  EXPECT_EQ(*third, "bound");
}

TEST_F(Binds, AnotherNodeIsRefusedUntilTheOutcomeIsKnown) {
  const ClusterPod& pod = add_pod("p", 4);
  bind(pod, "n1");
  EXPECT_EQ(*bind(pod, "n2"), "pod ns/p is being bound to node n1; its outcome is not known yet");
  EXPECT_EQ(cluster.bindings.size(), 1U);
}

TEST_F(Binds, ARefusedBindingFreesTheChips) {
  const ClusterPod& pod = add_pod("p", 8);
  const auto outcome = bind(pod, "n1");
  cluster.bindings[0].done(make_error(Errc::conflict, "another uid"));
  EXPECT_EQ(*outcome, "another uid");
  EXPECT_EQ(state_of(pod), PodState::pending);
  EXPECT_EQ(held(pod), nullptr);
  EXPECT_GT(core.state.freed, 0U) << "waiting pods are to be tried again";
}

TEST_F(Binds, AnOldAnswerCountsNoMore) {
  const ClusterPod& pod = add_pod("p", 4);
  bind(pod, "n1");
  cluster.bindings[0].done(make_error(Errc::unavailable, "no answer"));
  bind(pod, "n1");
  const Done late = cluster.bindings[0].done;
  late(make_error(Errc::conflict, "of the first request"));
  EXPECT_EQ(state_of(pod), PodState::binding);
}

TEST_F(Binds, WithoutAnAnswerThePodIsReadAgain) {
  const ClusterPod& pod = add_pod("p", 4);
  bind(pod, "n1");
  cluster.bindings[0].done(make_error(Errc::unavailable, "no answer"));
  bindings.check();
  EXPECT_TRUE(cluster.refreshed.empty()) << "it may still be stored";
  clock.advance(seconds(80));
  bindings.check();
  EXPECT_EQ(cluster.refreshed.size(), 1U);
  EXPECT_EQ(state_of(pod), PodState::pending);
}

TEST_F(Binds, ASecondSetEndsWhenThePodIsBoundElsewhere) {
  const ClusterPod& pod = add_pod("p", 8);
  ASSERT_TRUE(admit(pod, "n1"));
  EXPECT_EQ(state_of(pod), PodState::uncertain);
  const auto outcome = bind(pod, "n2");
  const PodRecord& record = *core.state.records.find(pod.request.uid);
  EXPECT_NE(record.second, nullptr) << "either may be stored";
  EXPECT_EQ(core.state.nodes.node(node("n1")).free().size(), 0);
  cluster.bindings[0].done({});
  EXPECT_EQ(*outcome, "bound");
  EXPECT_EQ(record.second, nullptr);
  EXPECT_EQ(core.state.nodes.node(node("n1")).free().size(), 8);
}

TEST_F(Binds, OneSecondSetIsTheLimit) {
  const ClusterPod& pod = add_pod("p", 4);
  add_node("n3");
  EXPECT_TRUE(admit(pod, "n1"));
  EXPECT_TRUE(admit(pod, "n2"));
  EXPECT_FALSE(admit(pod, "n3"));
  EXPECT_EQ(core.state.nodes.node(node("n3")).holders, 0U);
}

}  // namespace
}  // namespace chipweave::sched::test
