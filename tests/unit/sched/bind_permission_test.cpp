// Which pods a caller of bind may bind: those that it asked about, schedulers' names, and the
// limits of what is remembered.
#include "scheduler-plugin/app/bind_permission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using ::testing::HasSubstr;

const std::string kA = "kube-scheduler";
const std::string kB = "kube-scheduler-2";

struct Permission : ::testing::Test {
  ManualClock clock;
  BindPermission permission{clock, {}};

  static ClusterPod pod(const std::string& name, int chips, const std::string& scheduler = "") {
    ClusterPod out;
    out.request = World::request(name, chips);
    out.scheduler = scheduler;
    return out;
  }
  static void ask(BindPermission& who, const std::string& caller, const ClusterPod& about) {
    who.answered(caller, about.request.uid);
  }
  // "" if it may.
  static std::string refused(const BindPermission& by, const std::string& caller,
                             const ClusterPod& pod) {
    const auto may = by.check(caller, pod);
    return may ? "" : may.error().message;
  }
};

TEST_F(Permission, APodOnlyByWhoWasAnsweredForIt) {
  for (const int chips : {0, 2}) {
    const std::string name = std::to_string(chips);
    const ClusterPod mine = pod("mine-" + name, chips);
    EXPECT_EQ(refused(permission, kA, mine), "pod " + mine.request.key.text() +
                                                 ": caller \"kube-scheduler\" has not asked about "
                                                 "it; call filter first");
    ask(permission, kA, mine);
    EXPECT_EQ(refused(permission, kA, mine), "");
    EXPECT_NE(refused(permission, kB, mine), "");
    EXPECT_NE(refused(permission, kA, pod("other-" + name, chips)), "") << "of the same scheduler";
    ask(permission, kB, mine);
    EXPECT_EQ(refused(permission, kB, mine), "");
    EXPECT_NE(refused(permission, kA, mine), "") << "the last one that was answered";
    permission.bound(mine.request.uid);
    EXPECT_NE(refused(permission, kB, mine), "");
    EXPECT_EQ(refused(permission, "", mine), "") << "a client without a name";
  }
}

TEST_F(Permission, AnotherLeaderKnowsNothingOfIt) {
  const ClusterPod mine = pod("mine", 2);
  ask(permission, kA, mine);
  permission.forget();
  EXPECT_NE(refused(permission, kA, mine), "");
}

TEST_F(Permission, AListIsAllThatCounts) {
  BindPermission listed(clock, {"default-scheduler", "mine"});
  ask(listed, kA, pod("v", 2, "volcano"));
  for (const std::string& caller : {kA, kB, std::string()}) {
    EXPECT_EQ(refused(listed, caller, pod("p", 2, "mine")), "") << caller;
    EXPECT_EQ(refused(listed, caller, pod("d", 2)), "") << "a pod that names none";
    EXPECT_THAT(refused(listed, caller, pod("v", 2, "volcano")),
                HasSubstr("its schedulerName \"volcano\" is not in scheduler-names"));
  }
  EXPECT_NE(refused(listed, kA, pod("plain", 0, "mine")), "") << "it has not asked about this one";
}

TEST_F(Permission, WhatIsRememberedIsBoundedInTimeAndNumber) {
  const ClusterPod first = pod("first", 0);
  const ClusterPod second = pod("second", 0);
  ask(permission, kA, first);
  clock.advance(BindPermission::kGeneration);
  ask(permission, kA, second);
  EXPECT_EQ(refused(permission, kA, first), "") << "volumes may take ten minutes";
  clock.advance(BindPermission::kGeneration);
  EXPECT_NE(refused(permission, kA, first), "");
  EXPECT_EQ(refused(permission, kA, second), "");
  for (std::size_t i = 0; i < 2 * BindPermission::kMaxPodsOfGeneration; ++i)
    ask(permission, kA, pod("flood-" + std::to_string(i), 0));
  EXPECT_NE(refused(permission, kA, second), "");
}

struct BindAs : ::testing::Test {
  World w;
  BindAs() { w.add_node("n1", "hgx-v100-8"); }

  std::string bind(const std::string& caller, const PodRequest& pod, const std::string& node) {
    std::string outcome = "no answer";
    w.scheduler.bindings().bind({pod.key, pod.uid, node, caller}, [&](const Result<void>& result) {
      outcome = result ? "" : result.error().message;
    });
    return outcome;
  }
  void ask(const std::string& caller, const PodRequest& pod) {
    w.fit(pod);
    w.scheduler.bindings().answered(caller, pod);
  }
};

TEST_F(BindAs, APodIsBoundForTheCallerThatWasAnsweredForIt) {
  const PodRequest chips = w.submit("chips", 2);
  EXPECT_THAT(bind(kA, chips, "n1"), HasSubstr("call filter first"));
  EXPECT_EQ(w.scheduler.ledger().find(chips.uid), nullptr) << "nothing is reserved for it";
  ask(kA, chips);
  EXPECT_EQ(bind(kA, chips, "n1"), "");
}

TEST_F(BindAs, APodWithoutChipsLikewise) {
  const PodRequest plain = w.submit("plain", 0);
  EXPECT_THAT(bind(kA, plain, "n1"), HasSubstr("call filter first"));
  ask(kB, plain);
  EXPECT_NE(bind(kA, plain, "n1"), "");
  EXPECT_TRUE(w.pod(plain).node.empty());
  EXPECT_EQ(bind(kB, plain, "n1"), "");
  EXPECT_EQ(w.pod(plain).node, "n1");
  EXPECT_EQ(bind(kB, plain, "n1"), "") << "repeated, because the first answer was lost";
  const PodRequest local = w.submit("local", 0);
  EXPECT_EQ(bind("", local, "n1"), "") << "a client without a name on loopback";
}

TEST_F(BindAs, TheNodeIsEvaluatedAtBind) {
  const PodRequest filler = w.submit("filler", 8);
  ASSERT_EQ(bind("", filler, "n1"), "");
  const PodRequest pod = w.submit("p", 2);
  EXPECT_EQ(bind("", pod, "n1"), "pod ns/p no longer fits on node n1: not enough free chips");
  w.add_node("n2", "hgx-v100-8");
  w.set_health("n2", 0, domain::Health::unhealthy);
  const PodRequest whole = w.submit("whole", 8);
  EXPECT_THAT(bind("", whole, "n2"), HasSubstr("not enough healthy chips"));
  EXPECT_THAT(bind("", w.submit("npu", 2, "huawei.com/npu"), "n2"),
              HasSubstr("the node has no huawei.com/npu"));
  w.clock.advance(limits::kInventoryStaleAfter + std::chrono::seconds(1));
  w.scheduler.tick();
  EXPECT_THAT(bind("", pod, "n2"), HasSubstr("inventory is stale"));
  w.expect_sound();
}

TEST_F(BindAs, ABindingOfAClosedNodeIsRefusedAndKeepsItsChips) {
  const PodRequest pod = w.submit("p", 2);
  w.fit(pod);
  w.scores(pod);
  w.set_gate("n1", true);
  ASSERT_TRUE(w.scheduler.placements().reserve(pod, "n1").ok());
  const auto chips = w.chips(pod);
  w.set_gate("n1", false);
  EXPECT_EQ(bind("", pod, "n1"),
            "pod ns/p cannot be bound to node n1 now: the node is closed for pods with chips: its "
            "device plugin is not ready");
  EXPECT_TRUE(w.pod(pod).node.empty());
  EXPECT_EQ(w.chips(pod), chips);
  w.set_gate("n1", true);
  EXPECT_EQ(bind("", pod, "n1"), "");
  EXPECT_EQ(w.chips(pod), chips);
  w.expect_sound();
}

// A pod that another scheduler is binding, admitted by the webhook, is not ours to bind either.
TEST_F(BindAs, ASchedulersPodIsNotBoundForAnotherWhileItsBindingIsAdmitted) {
  ask(kA, w.submit("mine", 2));
  const PodRequest pod = w.submit("theirs", 2);
  bool admitted = false;
  w.scheduler.admissions().admit({{pod.key, pod.uid, "n1"}, "", false},
                                 [&](const Result<Admission>& a) { admitted = a.ok(); });
  ASSERT_TRUE(admitted);
  EXPECT_THAT(bind(kA, pod, "n1"), HasSubstr("call filter first"));
  EXPECT_TRUE(w.pod(pod).node.empty());
}

TEST_F(BindAs, AReplicaThatLedBeforeForgetsWhoAsked) {
  const PodRequest pod = w.submit("p", 2);
  ask(kA, pod);
  w.scheduler.step_down();
  EXPECT_THAT(bind(kA, pod, "n1"), HasSubstr("call filter first"));
}

}  // namespace
}  // namespace chipweave::sched::test
