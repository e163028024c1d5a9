// How pods of gangs are let go: gates opened, nodes told to kube-scheduler or pinned, and what is
// let go without a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler-plugin/app/gangs/opening/gang_nominations.hpp"
#include "tests/unit/sched/fake_cluster.hpp"
#include "tests/unit/sched/gated_world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(GangOpening, KubeSchedulerIsToldTheNode) {
  Gated w;
  w.nodes(2);
  const auto pods = w.gang_of("train", 2);
  w.check();
  EXPECT_THAT(w.pod(pods[0]).nominated, IsEmpty()) << "not before the plan is stored";
  w.store.answer();
  w.check();
  EXPECT_EQ(w.pod(pods[0]).nominated, "n0");
  EXPECT_EQ(w.pod(pods[1]).nominated, "n1");
  EXPECT_THAT(w.cluster.ungated(pods[0].key).pinned_to, IsEmpty());
}

TEST(GangOpening, AndAgainWhenItHasTakenThatOff) {
  Gated w;
  w.nodes(2);
  const auto pods = w.gang_of("train", 2);
  w.check();
  w.store.answer();
  w.check();
  w.cluster.nominate({pods[1].key, pods[1].uid, ""}, [](const Result<void>&) {});
  w.check();
  EXPECT_EQ(w.pod(pods[1]).nominated, "") << "not at once";
  w.clock.advance(seconds(2));
  w.check();
  EXPECT_EQ(w.pod(pods[1]).nominated, "n1");
  w.cluster.nominate({pods[1].key, pods[1].uid, ""}, [](const Result<void>&) {});
  w.clock.advance(seconds(1));
  w.check();
  EXPECT_EQ(w.pod(pods[1]).nominated, "") << "the pauses get longer";
}

TEST(GangOpening, PodsWithoutTheGateAreToldToo) {
  Gated w;
  w.nodes(3);
  std::vector<PodRequest> pods = w.gang_of("train", 2);
  for (const auto& pod : pods)
    w.cluster.ungate({pod.key, pod.uid, {}, std::nullopt}, [](const Result<void>&) {});
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n1"));
  w.check();
  EXPECT_EQ(w.pod(pods[0]).nominated, "n0");
  EXPECT_EQ(w.pod(pods[1]).nominated, "n1");
}

TEST(GangOpening, NobodyIsToldIfThatIsOff) {
  SchedulerOptions options;
  options.nominate_gangs = false;
  Gated w(options);
  w.nodes(2);
  const auto pods = w.gang_of("train", 2);
  w.check();
  w.store.answer();
  w.check();
  EXPECT_FALSE(w.gated(pods[0]));
  EXPECT_THAT(w.pod(pods[0]).nominated, IsEmpty());
}

TEST(GangOpening, PodsOfSchedulersThatDoNotAskArePinned) {
  SchedulerOptions options;
  options.gates.pinned_schedulers = {"kai-scheduler"};
  Gated w(options);
  w.nodes(2);
  const auto ours = w.gated_pod("train", 0, 2);
  w.scheduler_name = "kai-scheduler";
  const auto theirs = w.gated_pod("train", 1, 2);
  w.check();
  w.store.answer();
  w.check();
  EXPECT_THAT(w.cluster.ungated(ours.key).pinned_to, IsEmpty());
  EXPECT_EQ(w.cluster.ungated(theirs.key).pinned_to, "n1");
  EXPECT_THAT(w.pod(theirs).nominated, IsEmpty());
}

TEST(GangOpening, AReplacementIsNotPinnedToANodeThatIsGone) {
  SchedulerOptions options;
  options.gates.pinned_schedulers = {"kai-scheduler"};
  Gated w(options);
  w.nodes(3);
  w.scheduler_name = "kai-scheduler";
  const auto pods = w.gang_of("train", 2);
  const auto opened = [&] {
    w.check();
    w.store.answer();
    w.check();
  };
  opened();
  EXPECT_EQ(w.cluster.ungated(pods[1].key).pinned_to, "n1");
  w.scheduler.inventory_gone("n1");
  w.end({pods[1]});
  const auto again = w.gated_pod("train", 1, 2);
  opened();
  EXPECT_FALSE(w.gated(again));
  EXPECT_EQ(w.cluster.ungated(again.key).pinned_to, "n2");
  EXPECT_EQ(w.node_of(pods[0]), "n0");
  w.expect_sound();
}

TEST(GangOpening, AGangOfOnePodWaitsForNothing) {
  Gated w;
  w.nodes(1);
  const auto alone = w.gated_pod("alone", 0, 1);
  w.check();
  EXPECT_FALSE(w.gated(alone));
}

TEST(GangOpening, AGangWhoseSizeNobodySaysIsLetGoSoon) {
  Gated w;
  w.nodes(1);
  const auto pod = w.gated_pod("unknown", 0, 0);
  w.check();
  EXPECT_TRUE(w.gated(pod)) << "the object that says it may come";
  w.clock.advance(GangGates::kSizeComes);
  w.check();
  EXPECT_FALSE(w.gated(pod));
}

TEST(GangOpening, APodWithTheGateAndNoGangIsLetGo) {
  Gated w;
  w.nodes(1);
  ClusterPod pod;
  pod.request = World::request("stray", 8);
  pod.gated = true;
  ASSERT_TRUE(w.cluster.add(pod, "{}").ok());
  w.check();
  EXPECT_FALSE(w.gated(pod.request));
}

TEST(GangOpening, AGangThatHasWaitedLongEnoughIsLetGoWithoutAPlan) {
  SchedulerOptions options;
  options.gates.timeout = std::chrono::minutes(1);
  Gated w(options);
  w.nodes(1);
  const auto pods = w.gang_of("train", 2);
  const auto incomplete = w.gated_pod("incomplete", 0, 2);
  w.check();
  w.clock.advance(seconds(59));
  w.check();
  EXPECT_TRUE(w.gated(pods[0]));
  w.clock.advance(seconds(1));
  w.check();
  EXPECT_FALSE(w.gated(pods[0]));
  EXPECT_FALSE(w.gated(pods[1]));
  EXPECT_TRUE(w.gated(incomplete));
  w.keep_reporting(1);
  EXPECT_THAT(w.fit(pods[0]), IsEmpty()) << "it is still all or nothing";
}

TEST(GangOpening, ManyGatesAreOpenedInOneGo) {
  Gated w;
  constexpr int kPods = 3 * static_cast<int>(GateOpener::kMaxAsked);
  w.nodes(kPods);
  const auto pods = w.gang_of("train", kPods);
  w.check();
  w.store.answer();
  w.check();
  EXPECT_TRUE(
      std::none_of(pods.begin(), pods.end(), [&](const auto& pod) { return w.gated(pod); }));
}

// With percentageOfNodesToScore kube-scheduler offers a part of the nodes.
TEST(GangOpening, AGangMayNeedMoreNodesThanAreOffered) {
  constexpr int kNodes = 200;
  constexpr int kPods = 150;
  Gated w;
  w.nodes(kNodes);
  const auto pods = w.gang_of("train", kPods);
  for (const auto& pod : pods)
    w.cluster.ungate({pod.key, pod.uid, {}, std::nullopt}, [](const Result<void>&) {});
  const auto offered = w.all();
  const auto sample = std::span(offered).subspan(0, kNodes / 2 + 10);
  (void)w.scheduler.extender().filter(pods[0], sample);
  EXPECT_EQ(w.scheduler.ledger().reserved(), static_cast<std::size_t>(kPods));
  w.expect_sound();
}

struct Telling : testing::Test {
  ClusterPod waiting(const std::string& name) {
    ClusterPod pod;
    pod.request = World::request(name, 8);
    cluster.pods.emplace(pod.request.key, pod);
    return pod;
  }
  void tell(const ClusterPod& pod) {
    nominations.tell(pod, "n1", [this] { ++went_on; });
  }
  void answer(const Result<void>& result) {
    auto asked = std::exchange(cluster.nominated, {});
    for (auto& one : asked) one.done(result);
  }
  ManualClock clock;
  FakeCluster cluster;
  KeepingObserver observer;
  Core core{clock, cluster, observer};
  GangNominations nominations{core};
  Evaluator evaluator{core.state.nodes};
  int went_on = 0;
};

TEST_F(Telling, PodsOfAGangThatDoNotComeAreReportedOnce) {
  Reservations reservations(core, evaluator, seconds(30));
  Gangs gangs(core, reservations);
  ClusterPod pod = waiting("train-0");
  GangMark mark;
  mark.framework = "chipweave";
  mark.name = "train";
  mark.size = 2;
  pod.request.mark = std::make_shared<const GangMark>(std::move(mark));
  gangs.added(pod);
  gangs.tick();
  clock.advance(Gangs::kOverdue - seconds(1));
  gangs.tick();
  EXPECT_EQ(observer.count<GangOverdue>(), 0U);
  clock.advance(seconds(1));
  gangs.tick();
  gangs.tick();
  EXPECT_EQ(observer.count<GangOverdue>(), 1U);
}

TEST_F(Telling, GoesOnAfterTheAnswerWhateverItIs) {
  tell(waiting("a"));
  ASSERT_THAT(cluster.nominated, SizeIs(1));
  EXPECT_EQ(cluster.nominated[0].binding.node, "n1");
  EXPECT_EQ(went_on, 0);
  answer({});
  EXPECT_EQ(went_on, 1);
  tell(waiting("b"));
  answer(make_error(Errc::unavailable, "no answer"));
  EXPECT_EQ(went_on, 2);
  EXPECT_EQ(observer.count<GangNotNominated>(), 1U);
  tell(waiting("c"));
  answer(make_error(Errc::conflict, "it is bound"));
  EXPECT_EQ(went_on, 3);
  EXPECT_EQ(observer.count<GangNotNominated>(), 1U) << "nothing is wrong with that";
}

TEST_F(Telling, StopsForAWhileWhenItIsForbidden) {
  tell(waiting("a"));
  answer(make_error(Errc::invalid_argument, "HTTP 403"));
  EXPECT_EQ(went_on, 1);
  tell(waiting("b"));
  EXPECT_EQ(went_on, 2);
  EXPECT_THAT(cluster.nominated, IsEmpty());
  clock.advance(GangNominations::kSilence);
  tell(waiting("c"));
  EXPECT_THAT(cluster.nominated, SizeIs(1));
}

}  // namespace
}  // namespace chipweave::sched::test
