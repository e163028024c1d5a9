// Which pod asks: those that asked before or were shown late, names that are used again, and what a
// restart of the kubelet changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device_plugin/desk_fixture.hpp"

namespace chipweave::device_plugin {
namespace {

using test::kube_pod;
using test::note_of;
using test::pod_of;
using test::PodSpec;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

class DeskTurns : public test::DeskTest {
 protected:
  // Listed without chips, as kubelets before 1.34 go on listing pods that have failed.
  PodSpec show_over(const std::string& name, const std::string& phase) {
    PodSpec pod = pod_of(name, 2);
    desk_->pod_seen(kube_pod(pod, note_of(pod, {{"", {0, 1}}}), phase));
    kubelet_.show(pod);
    return pod;
  }
  // Refused by something else, which only a kubelet before 1.34 shows.
  void show_stuck(const std::map<std::string, std::vector<int>>& parts) {
    const PodSpec stuck = pod_of("stuck", 2);
    bind(stuck, parts);
    kubelet_.show(stuck);
  }
};

TEST_F(DeskTurns, ThePodAfterOneThatWasAnsweredUnderItsNameIsAwaited) {
  const PodSpec pod = pod_of("s-0", 2, "old");
  bind(pod, {{"", {5, 6}}});
  kubelet_.show(pod);
  ASSERT_THAT(ask(2), Optional(ElementsAre("5", "6")));
  // The kubelet has refused it for another reason, and its owner has made the next one.
  EXPECT_EQ(ask(2), std::nullopt);
  const PodSpec next = pod_of("s-0", 2, "new");
  bind(next, {{"", {2, 3}}});
  EXPECT_THAT(ask(2), Optional(ElementsAre("2", "3")));
}

// It had its chips before the plugin was started.
TEST_F(DeskTurns, ThePodAfterOneThatHadItsChipsUnderItsNameIsAwaited) {
  const PodSpec old = pod_of("s-0", 2, "old");
  bind(old, {{"", {5, 6}}});
  kubelet_.give(old, "main", {"5", "6"});
  desk_->learn(kubelet_.list());
  kubelet_.remove(old.uid);
  const PodSpec next = pod_of("s-0", 2, "new");
  kubelet_.show(next);
  EXPECT_EQ(ask(2), std::nullopt);
  bind(next, {{"", {2, 3}}});
  EXPECT_THAT(ask(2), Optional(ElementsAre("2", "3")));
}

TEST_F(DeskTurns, AKubeletThatEndsBeforeItRecordsAnAnswerAsksAgain) {
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  kubelet_.show(pod);
  ASSERT_THAT(ask(2), Optional(ElementsAre("5", "6")));
  desk_->kubelet_restarted();
  EXPECT_THAT(ask(2), Optional(ElementsAre("5", "6")));
}

TEST_F(DeskTurns, AKubeletThatEndsBeforeItReportsAPodThatNobodyHadShownAsksAgain) {
  const PodSpec pod = pod_of("a", 2);
  kubelet_.show(pod);
  ASSERT_THAT(ask(2, {}, false), Optional(IsEmpty()));
  desk_->kubelet_restarted();
  bind(pod, {{"", {5, 6}}});
  EXPECT_THAT(ask(2), Optional(ElementsAre("5", "6")));
}

TEST_F(DeskTurns, APodThatHadItsTurnMayBeTheOneThatAsksTheNextKubelet) {
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {2, 3}}});
  kubelet_.show(pod);
  const PodSpec other = pod_of("other", 1);
  bind(other, {{"", {7}}});
  ASSERT_TRUE(admit(other));
  desk_->kubelet_restarted();
  kubelet_.remove(pod.uid);
  show_stuck({{"", {0, 1}}});
  EXPECT_FALSE(admit(pod));
  EXPECT_THAT(why_, HasSubstr("any of 2 pods"));
}

TEST_F(DeskTurns, APodThatIsOverHoldsUpEachKubeletOnce) {
  for (const char* phase : {"Failed", "Succeeded"}) {
    use(OnMismatch::refuse);
    const PodSpec over = show_over("s-0", phase);
    const auto waits = [&](const std::string& name) {
      const PodSpec pod = pod_of(name, 2);
      bind(pod, {{"", {2, 3}}});
      EXPECT_TRUE(admit(pod)) << why_;
      EXPECT_THAT(has(pod), ElementsAre("2", "3"));
      kubelet_.remove(pod.uid);
      desk_->pod_gone(pod.key());
      return waited_;
    };
    EXPECT_TRUE(waits("a")) << "the next pod of that name may be the one that asks";
    EXPECT_FALSE(waits("b"));
    desk_->kubelet_restarted();
    EXPECT_TRUE(waits("c"));
    kubelet_.remove(over.uid);
  }
}

TEST_F(DeskTurns, ANameThatWasAwaitedInVainIsAwaitedAgainWhenItIsUsedAgain) {
  const PodSpec over = show_over("s-0", "Failed");
  const PodSpec pod = pod_of("a", 1);
  bind(pod, {{"", {7}}});
  ASSERT_TRUE(admit(pod));
  kubelet_.remove(over.uid);
  desk_->pod_gone(over.key());
  const PodSpec second = pod_of("s-0", 2, "second");
  bind(second, {{"", {2, 3}}});
  desk_->pod_gone(second.key());
  const PodSpec third = pod_of("s-0", 2, "third");
  kubelet_.show(third);
  EXPECT_EQ(ask(2), std::nullopt);
  bind(third, {{"", {5, 6}}});
  EXPECT_THAT(ask(2), Optional(ElementsAre("5", "6")));
}

TEST_F(DeskTurns, APodWithTwoContainersIsNotRuledOutByItsFirstQuestion) {
  show_stuck({{"", {0, 1}}});
  const PodSpec other = pod_of("other", 1);
  bind(other, {{"", {7}}});
  ASSERT_TRUE(admit(other));
  const PodSpec pod{"a", "u", {{"x", 2}, {"y", 2}}};
  bind(pod, {{"x", {2, 3}}, {"y", {4, 5}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod, "x"), ElementsAre("2", "3"));
  EXPECT_THAT(has(pod, "y"), ElementsAre("4", "5"));
}

TEST_F(DeskTurns, ANameThatADeletedPodHadIsAwaitedWhenItIsUsedAgain) {
  const PodSpec ghost = pod_of("s-0", 2, "ghost");
  kubelet_.show(ghost);
  desk_->learn_strangers(kubelet_.list());
  kubelet_.remove(ghost.uid);
  desk_->learn_strangers(kubelet_.list());
  const PodSpec pod = pod_of("s-0", 2);
  kubelet_.show(pod);
  EXPECT_EQ(ask(2), std::nullopt);
  bind(pod, {{"", {5, 6}}});
  EXPECT_THAT(ask(2), Optional(ElementsAre("5", "6")));
}

TEST_F(DeskTurns, APodThatMustAskForItsInitContainerFirstIsNotTheOneThatAsksForMore) {
  const PodSpec stuck{"stuck", "u", {{"init", 1, true}, {"main", 2}}};
  bind(stuck, {{"", {0, 1}}});
  kubelet_.show(stuck);
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod), ElementsAre("5", "6"));
}

TEST_F(DeskTurns, APodWithoutAnInitContainerDoesNotAskForMoreThanOneHad) {
  show_stuck({{"", {0, 1}}});
  const PodSpec pod{"a", "u", {{"init", 1, true}, {"main", 2}}};
  bind(pod, {{"", {5, 6}}});
  kubelet_.show(pod);
  EXPECT_THAT(ask(2, {"5"}), Optional(ElementsAre("5", "6")));
}

TEST_F(DeskTurns, ContainersAskOneAfterTheOtherBehindAnInitContainerToo) {
  const PodSpec stuck{"stuck", "u", {{"init", 1, true}, {"x", 1}, {"y", 2}}};
  bind(stuck, {{"x", {0}}, {"y", {1, 2}}});
  kubelet_.show(stuck);
  const PodSpec pod{"a", "v", {{"init", 1, true}, {"main", 2}}};
  bind(pod, {{"", {5, 6}}});
  kubelet_.show(pod);
  EXPECT_THAT(ask(2, {"5"}), Optional(ElementsAre("5", "6")));
}

TEST_F(DeskTurns, TheSecondContainerAsksForMoreThanAnInitContainerHasLeftIt) {
  const PodSpec pod{"a", "u", {{"init", 2, true}, {"x", 1}, {"y", 2}}};
  bind(pod, {{"x", {0}}, {"y", {6, 7}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod, "x"), ElementsAre("0"));
  EXPECT_THAT(has(pod, "y"), ElementsAre("6", "7"));
}

TEST_F(DeskTurns, APodThatIsNotKnownButHasItsChipsIsNotAwaited) {
  kubelet_.give(pod_of("unknown", 1), "main", {"7"});
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_FALSE(waited_);
}

TEST_F(DeskTurns, PodsThatWantNoChipsHaveNoTurns) {
  const PodSpec web = pod_of("web-0", 0, "old");
  desk_->pod_seen(kube_pod(web, "", "Running"));
  kubelet_.show(web);
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_FALSE(waited_);
  EXPECT_FALSE(admit(pod_of("ghost", 1)));
  // The same name, now with chips.
  kubelet_.remove(web.uid);
  const PodSpec next = pod_of("web-0", 2, "new");
  bind(next, {{"", {2, 3}}});
  EXPECT_TRUE(admit(next)) << why_;
}

TEST_F(DeskTurns, APodThatMayHaveHadItsTurnBesideOneThatNobodyHadShownDoesNotAskAgain) {
  const PodSpec known = pod_of("known", 2);
  bind(known, {{"", {0, 1}}});
  kubelet_.show(known);
  EXPECT_FALSE(admit(pod_of("ghost", 2)));
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod), ElementsAre("5", "6"));
}

TEST_F(DeskTurns, AChangeOfTheFormerPodIsNotTakenForTheOneThatHadItsTurnUnseen) {
  const PodSpec first = pod_of("s-0", 2, "first");
  bind(first, {{"", {0, 1}}});
  // The kubelet has the next one already.
  const PodSpec second = pod_of("s-0", 2, "second");
  kubelet_.show(second);
  EXPECT_FALSE(admit(pod_of("ghost", 2)));
  bind(first, {{"", {0, 1}}});
  bind(second, {{"", {2, 3}}});
  kubelet_.remove(second.uid);
  kubelet_.show(pod_of("s-0", 2, "third"));
  EXPECT_EQ(ask(2), std::nullopt);
}

// A controller makes the pod of a name again and again.
TEST_F(DeskTurns, AListOfAllPodsEndsTheWaitForOneThatIsNeverShown) {
  const auto admits = [&](const std::string& uid) {
    const PodSpec pod = pod_of("s-0", 2, uid);
    bind(pod, {{"", {5, 6}}});
    const bool admitted = admit(pod);
    EXPECT_EQ(has(pod), admitted ? Ids({"5", "6"}) : Ids());
    kubelet_.remove(pod.uid);
    desk_->pod_gone(pod.key());
    return admitted;
  };
  EXPECT_FALSE(desk_->awaits_list());
  EXPECT_FALSE(admit(pod_of("s-0", 2, "never shown")));
  EXPECT_TRUE(desk_->awaits_list());
  for (const char* uid : {"a", "b", "c"}) EXPECT_FALSE(admits(uid)) << "may be the one";
  desk_->list_requested();
  desk_->list_shown();
  EXPECT_FALSE(desk_->awaits_list());
  EXPECT_TRUE(admits("d")) << why_;
}

TEST_F(DeskTurns, APodThatComesWithTheListMayBeTheOneThatWasAwaited) {
  EXPECT_FALSE(admit(pod_of("s-0", 2, "late")));
  desk_->list_requested();
  const PodSpec late = pod_of("s-0", 2, "late");
  bind(late, {{"", {5, 6}}});
  desk_->list_shown();
  kubelet_.show(late);
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {2, 3}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod), ElementsAre("2", "3"));
}

TEST_F(DeskTurns, AListSaysNothingAboutPodsThatAskedAfterItsRequest) {
  EXPECT_FALSE(admit(pod_of("s-0", 2, "before")));
  desk_->list_requested();
  EXPECT_FALSE(admit(pod_of("s-0", 2, "since")));
  desk_->list_shown();
  EXPECT_TRUE(desk_->awaits_list());
  desk_->list_requested();
  desk_->list_shown();
  EXPECT_FALSE(desk_->awaits_list());
}

TEST_F(DeskTurns, APodThatIsShownIsNotAwaitedAnyMore) {
  const PodSpec late = pod_of("s-0", 2, "late");
  EXPECT_FALSE(admit(late));
  desk_->list_requested();
  EXPECT_FALSE(admit(pod_of("s-0", 2, "later")));
  for (const char* uid : {"late", "later"}) bind(pod_of("s-0", 2, uid), {{"", {5, 6}}});
  EXPECT_FALSE(desk_->awaits_list());
}

// While the API server is away, a controller makes one pod after the other.
TEST_F(DeskTurns, HoweverManyHadTheirTurnsUnseenOnlyAFewPodsOfTheNameAreRuledOut) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(admit(pod_of("a", 2, "unseen-" + std::to_string(i))));
  for (int i = 0; i < 8; ++i) {
    const PodSpec pod = pod_of("a", 2, "late-" + std::to_string(i));
    bind(pod, {{"", {5, 6}}});
    desk_->pod_gone(pod.key());
  }
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_TRUE(admit(pod)) << why_;
}

TEST_F(DeskTurns, APodThatExistsStaysRuledOutHoweverManyCameAfterIt) {
  const PodSpec refused = pod_of("refused", 2);
  bind(refused, {{"", {0, 9}}});
  ASSERT_FALSE(admit(refused));
  for (int i = 0; i < 9000; ++i) {
    const PodSpec pod = pod_of("p", 1, "u" + std::to_string(i));
    bind(pod, {{"", {9}}});
    ASSERT_FALSE(admit(pod));
    desk_->pod_gone(pod.key());
  }
  kubelet_.show(refused);
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {2, 3}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod), ElementsAre("2", "3"));
}

}  // namespace
}  // namespace chipweave::device_plugin
