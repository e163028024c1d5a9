// Which pods a caller of bind may bind: pods without chips, schedulers' names, and the limits of
// what is remembered.
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
  BindPermission learning{clock, {}};

  static ClusterPod pod(const std::string& name, int chips, const std::string& scheduler = "") {
    ClusterPod out;
    out.request = World::request(name, chips);
    out.scheduler = scheduler;
    return out;
  }
  static void ask(BindPermission& who, const std::string& caller, const ClusterPod& about) {
    who.answered(caller, about.request, &about);
  }
  // "" if it may.
  static std::string refused(const BindPermission& by, const std::string& caller,
                             const ClusterPod& pod) {
    const auto may = by.check(caller, pod);
    return may ? "" : may.error().message;
  }
};

TEST_F(Permission, APodWithoutChipsOnlyByWhoWasAnsweredForIt) {
  const ClusterPod plain = pod("plain", 0);
  EXPECT_THAT(refused(learning, kA, plain),
              HasSubstr("it requests no chips, and caller \"kube-scheduler\" has not asked"));
  ask(learning, kA, plain);
  EXPECT_EQ(refused(learning, kA, plain), "");
  EXPECT_NE(refused(learning, kB, plain), "");
  EXPECT_NE(refused(learning, kA, pod("other", 0)), "");
  ask(learning, kB, plain);
  EXPECT_EQ(refused(learning, kB, plain), "");
  EXPECT_NE(refused(learning, kA, plain), "") << "the last one that was answered";
  learning.bound(plain.request.uid);
  EXPECT_NE(refused(learning, kB, plain), "");
}

TEST_F(Permission, APodThatTheClusterHasNotDeliveredYet) {
  const ClusterPod fresh = pod("fresh", 0, "mine");
  learning.answered(kA, fresh.request, nullptr);
  EXPECT_EQ(refused(learning, kA, fresh), "");
}

TEST_F(Permission, APodWithChipsNeedsNoQuestion) {
  EXPECT_EQ(refused(learning, kA, pod("p", 2)), "");
  EXPECT_EQ(refused(learning, "", pod("plain", 0)), "") << "a client without a name on loopback";
}

TEST_F(Permission, SchedulersAreLearnedFromWhatACallerAsksAbout) {
  ask(learning, kA, pod("p", 2, "mine"));
  EXPECT_EQ(refused(learning, kA, pod("q", 2, "mine")), "");
  EXPECT_THAT(refused(learning, kA, pod("v", 2, "volcano")),
              HasSubstr("caller \"kube-scheduler\" has not asked about a pod with its "
                        "schedulerName \"volcano\"; call filter first"));
  EXPECT_THAT(refused(learning, kA, pod("d", 2)), HasSubstr("default-scheduler"));
  EXPECT_EQ(refused(learning, kB, pod("v", 2, "volcano")), "") << "nothing known of it yet";
  EXPECT_EQ(refused(learning, "", pod("v", 2, "volcano")), "");
  ask(learning, kA, pod("v", 2, "volcano"));
  EXPECT_EQ(refused(learning, kA, pod("v", 2, "volcano")), "") << "asking again is the mend";
  learning.forget();
  EXPECT_EQ(refused(learning, kA, pod("d", 2)), "") << "another replica may have answered";
}

TEST_F(Permission, TheNameIsTheClustersNotTheCallers) {
  ClusterPod claimed = pod("v", 2, "mine");
  const ClusterPod bound_elsewhere = [] {
    ClusterPod other = pod("v", 2, "volcano");
    other.request.uid = "another";
    return other;
  }();
  learning.answered(kA, claimed.request, &bound_elsewhere);
  EXPECT_EQ(refused(learning, kA, pod("x", 2, "third")), "") << "nothing was learned";
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
  ask(learning, kA, first);
  clock.advance(BindPermission::kGeneration);
  ask(learning, kA, second);
  EXPECT_EQ(refused(learning, kA, first), "") << "volumes may take ten minutes";
  clock.advance(BindPermission::kGeneration);
  EXPECT_NE(refused(learning, kA, first), "");
  EXPECT_EQ(refused(learning, kA, second), "");
  for (std::size_t i = 0; i < 2 * BindPermission::kMaxPodsOfGeneration; ++i)
    ask(learning, kA, pod("flood-" + std::to_string(i), 0));
  EXPECT_NE(refused(learning, kA, second), "");
  for (std::size_t i = 0; i < BindPermission::kMaxLearned; ++i)
    ask(learning, kB, pod("p", 2, "s" + std::to_string(i)));
  EXPECT_EQ(refused(learning, kA, pod("p", 2, "any")), "") << "what it asked about is forgotten";
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

TEST_F(BindAs, APodWithoutChipsIsBoundForTheCallerThatWasAnsweredForIt) {
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
  ASSERT_EQ(bind(kA, filler, "n1"), "");
  const PodRequest pod = w.submit("p", 2);
  EXPECT_EQ(bind(kA, pod, "n1"), "pod ns/p no longer fits on node n1: not enough free chips");
  w.add_node("n2", "hgx-v100-8");
  w.set_health("n2", 0, domain::Health::unhealthy);
  const PodRequest whole = w.submit("whole", 8);
  EXPECT_THAT(bind(kA, whole, "n2"), HasSubstr("not enough healthy chips"));
  EXPECT_THAT(bind(kA, w.submit("npu", 2, "huawei.com/npu"), "n2"),
              HasSubstr("the node has no huawei.com/npu"));
  w.clock.advance(limits::kInventoryStaleAfter + std::chrono::seconds(1));
  w.scheduler.tick();
  EXPECT_THAT(bind(kA, pod, "n2"), HasSubstr("inventory is stale"));
  w.expect_sound();
}

// A pod that another scheduler is binding, admitted by the webhook, is not ours to bind either.
TEST_F(BindAs, ASchedulersPodIsNotBoundForAnotherWhileItsBindingIsAdmitted) {
  ask(kA, w.submit("mine", 2));
  ClusterPod other;
  other.request = World::request("theirs", 2);
  other.scheduler = "volcano";
  const PodRequest pod = w.cluster.add(other, "{}").value()->request;
  bool admitted = false;
  w.scheduler.bindings().admit({{pod.key, pod.uid, "n1"}, "", false},
                               [&](const Result<Admission>& a) { admitted = a.ok(); });
  ASSERT_TRUE(admitted);
  EXPECT_THAT(bind(kA, pod, "n1"), HasSubstr("schedulerName \"volcano\""));
  EXPECT_TRUE(w.pod(pod).node.empty());
}

TEST_F(BindAs, AReplicaThatLedBeforeForgetsWhoAsked) {
  ask(kA, w.submit("mine", 2));
  ClusterPod other;
  other.request = World::request("later", 2);
  other.scheduler = "second-profile";
  const PodRequest pod = w.cluster.add(other, "{}").value()->request;
  ASSERT_NE(bind(kA, pod, "n1"), "");
  w.scheduler.step_down();
  EXPECT_EQ(bind(kA, pod, "n1"), "") << "the replica that led meanwhile was asked about it";
}

}  // namespace
}  // namespace chipweave::sched::test
