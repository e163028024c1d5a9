// Which chips the plugin names, for each way in which a pod can be known, half known or wrong.
#include "node-agent/device_plugin/core/desk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device_plugin/desk_fixture.hpp"

namespace chipweave::device_plugin {
namespace {

using test::DeskTest;
using test::kNode;
using test::kube_pod;
using test::machine_of;
using test::note_of;
using test::pod_of;
using test::PodSpec;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(DeskTest, APodGetsTheChipsOfItsDecision) {
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod), ElementsAre("5", "6"));
  EXPECT_EQ(by_, Choice::By::decision);
  EXPECT_FALSE(waited_);
}

// All are bound before the first is admitted: order and size say nothing.
TEST_F(DeskTest, ABurstOfOneSizeInAnyOrder) {
  std::vector<PodSpec> pods;
  for (int i = 0; i < 8; ++i) {
    pods.push_back(pod_of("p" + std::to_string(i), 1));
    bind(pods.back(), {{"", {(i * 3) % 8}}});
  }
  for (const int i : {5, 0, 7, 1, 3, 2, 6, 4}) {
    EXPECT_TRUE(admit(pods[static_cast<std::size_t>(i)]));
    EXPECT_THAT(has(pods[static_cast<std::size_t>(i)]), ElementsAre(std::to_string((i * 3) % 8)));
  }
}

TEST_F(DeskTest, EachContainerGetsItsPart) {
  const PodSpec pod{"a", "u", {{"x", 2}, {"none", 0}, {"y", 2}, {"z", 1}}};
  bind(pod, {{"x", {1, 2}}, {"y", {0, 7}}, {"z", {4}}});
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod, "x"), ElementsAre("1", "2"));
  EXPECT_THAT(has(pod, "y"), ElementsAre("0", "7"));
  EXPECT_THAT(has(pod, "z"), ElementsAre("4"));
}

// PodResources always lists it without chips.
TEST_F(DeskTest, AContainerWithoutChipsDoesNotAsk) {
  const PodSpec pod{"a", "u", {{"init", 1, true}, {"x", 2}, {"none", 0}, {"y", 1}}};
  bind(pod, {{"x", {1, 2}}, {"y", {0}}});
  ASSERT_TRUE(admit(pod));
  const PodSpec next = pod_of("b", 2);
  bind(next, {{"", {5, 6}}});
  EXPECT_TRUE(admit(next)) << why_;
  EXPECT_FALSE(waited_);
  EXPECT_THAT(has(next), ElementsAre("5", "6"));
  // Also if it was deleted by force, and its containers are not gone yet.
  desk_->pod_gone(pod.key());
  const PodSpec last = pod_of("c", 1);
  bind(last, {{"", {3}}});
  EXPECT_TRUE(admit(last)) << why_;
}

// An annotation that does not say whose chips they are.
TEST_F(DeskTest, ContainersShareADecisionThatIsNotSplit) {
  const PodSpec pod{"a", "u", {{"x", 2}, {"y", 2}}};
  bind(pod, {{"", {0, 1, 4, 5}}});
  EXPECT_TRUE(admit(pod));
  auto all = has(pod, "x");
  const auto y = has(pod, "y");
  all.insert(all.end(), y.begin(), y.end());
  EXPECT_THAT(all, testing::UnorderedElementsAre("0", "1", "4", "5"));
}

TEST_F(DeskTest, AnInitContainerGetsWhatTheNextContainersWillHave) {
  const PodSpec pod{"a", "u", {{"prepare", 2, true}, {"x", 2}, {"y", 2}}};
  bind(pod, {{"x", {5, 6}}, {"y", {1, 2}}});
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod, "prepare"), ElementsAre("5", "6"));
  EXPECT_THAT(has(pod, "x"), ElementsAre("5", "6"));
  EXPECT_THAT(has(pod, "y"), ElementsAre("1", "2"));
  EXPECT_EQ(asked_, 2);
}

TEST_F(DeskTest, InitContainersOfRisingSizes) {
  const PodSpec pod{"a", "u", {{"i1", 1, true}, {"i2", 3, true}, {"main", 4}}};
  bind(pod, {{"", {0, 3, 5, 6}}});
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod), ElementsAre("0", "3", "5", "6"));
  EXPECT_EQ(asked_, 3);
}

TEST_F(DeskTest, SidecarsKeepTheirs) {
  const PodSpec pod{"a", "u", {{"proxy", 1, false, true}, {"main", 2}}};
  bind(pod, {{"proxy", {7}}, {"main", {1, 2}}});
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod, "proxy"), ElementsAre("7"));
  EXPECT_THAT(has(pod), ElementsAre("1", "2"));
}

TEST_F(DeskTest, WithoutADecisionTheBestFreeSet) {
  const PodSpec taken = pod_of("taken", 3);
  bind(taken, {{"", {1, 2, 3}}});
  ASSERT_TRUE(admit(taken));
  const PodSpec pod = pod_of("a", 2);
  desk_->pod_seen(kube_pod(pod, ""));
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod), ElementsAre("0", "4"));  // the double link
  EXPECT_EQ(by_, Choice::By::selector);
}

TEST_F(DeskTest, WhatIsPromisedToAPodThatHasNotCameYetIsNotFree) {
  const PodSpec later = pod_of("later", 6);
  bind(later, {{"", {0, 1, 3, 4, 5, 7}}});
  const PodSpec pod = pod_of("a", 2);
  desk_->pod_seen(kube_pod(pod, ""));
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod), ElementsAre("2", "6"));
  const PodSpec third = pod_of("third", 1);
  desk_->pod_seen(kube_pod(third, ""));
  EXPECT_FALSE(admit(third));
  EXPECT_THAT(why_, HasSubstr("promised"));
  EXPECT_TRUE(admit(later));
}

TEST_F(DeskTest, APodThatTheWatchShowsLateIsAwaited) {
  const PodSpec pod = pod_of("a", 2);
  kubelet_.show(pod);
  const AskedPreference asked{{"0", "1", "2", "3", "4", "5", "6", "7"}, {}, 2};
  EXPECT_FALSE(desk_->prefer(asked, kubelet_.list(), true).has_value());
  bind(pod, {{"", {5, 6}}});
  const auto got = desk_->prefer(asked, kubelet_.list(), true);
  ASSERT_TRUE(got && got->choice);
  EXPECT_THAT(desk_->devices()->ids(got->choice->chips), ElementsAre("5", "6"));
}

TEST_F(DeskTest, APodThatIsNeverShownIsRefused) {
  const PodSpec other = pod_of("other", 2);
  bind(other, {{"", {0, 4}}});
  EXPECT_FALSE(admit(pod_of("ghost", 2)));
  EXPECT_TRUE(waited_);
  EXPECT_THAT(why_, HasSubstr("default/ghost"));
  use(OnMismatch::adopt);
  bind(other, {{"", {0, 4}}});
  EXPECT_TRUE(admit(pod_of("ghost", 2)));
  EXPECT_THAT(has(pod_of("ghost", 2)), testing::Not(testing::Contains("0")));
  EXPECT_TRUE(admit(other));
  EXPECT_THAT(has(other), ElementsAre("0", "4"));
}

TEST_F(DeskTest, APodThatWasDeletedBeforeWeCameIsNotAwaited) {
  const PodSpec ghost = pod_of("ghost", 2);
  kubelet_.show(ghost);
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_FALSE(admit(pod));
  const PodSpec other = pod_of("b", 2);
  bind(other, {{"", {5, 6}}});
  desk_->learn_strangers(kubelet_.list());
  EXPECT_TRUE(admit(other));
  EXPECT_FALSE(waited_);
}

// Its first pod had its turn before it was shown: what comes then is not taken for the next one.
TEST_F(DeskTest, APodThatHadItsTurnUnseenDoesNotAskAgain) {
  const PodSpec first = pod_of("a", 2, "first");
  EXPECT_FALSE(admit(first));
  bind(first, {{"", {0, 1}}});
  const PodSpec second = pod_of("a", 2, "second");
  EXPECT_FALSE(admit(second));
  desk_->pod_gone(first.key());
  bind(second, {{"", {0, 1}}});
  desk_->pod_gone(second.key());
  const PodSpec third = pod_of("a", 2, "third");
  bind(third, {{"", {2, 3}}});
  EXPECT_TRUE(admit(third));
  EXPECT_THAT(has(third), ElementsAre("2", "3"));
}

// A StatefulSet's pod is replaced under its name before the watch has shown that.
TEST_F(DeskTest, TheFormerPodOfANameIsNotTheOneThatAsks) {
  const PodSpec old = pod_of("s-0", 2, "old");
  bind(old, {{"", {0, 1}}});
  ASSERT_TRUE(admit(old));
  desk_->learn(kubelet_.list());
  kubelet_.remove("old");
  const PodSpec fresh = pod_of("s-0", 2, "fresh");
  kubelet_.show(fresh);
  const AskedPreference asked{{"0", "1", "2", "3", "4", "5", "6", "7"}, {}, 2};
  EXPECT_FALSE(desk_->prefer(asked, kubelet_.list(), true).has_value()) << "still shown as bound";
  desk_->pod_gone("default/s-0");
  EXPECT_FALSE(desk_->prefer(asked, kubelet_.list(), true).has_value()) << "gone";
  bind(fresh, {{"", {6, 7}}});
  const auto got = desk_->prefer(asked, kubelet_.list(), true);
  ASSERT_TRUE(got && got->choice);
  EXPECT_THAT(desk_->devices()->ids(got->choice->chips), ElementsAre("6", "7"));
}

TEST_F(DeskTest, APodThatWasDeletedIsStillAdmittedWithItsChipsIfTheyAreNobodyElses) {
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  desk_->pod_gone(pod.key());
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod), ElementsAre("5", "6"));
  kubelet_.remove(pod.uid);
  const PodSpec again = pod_of("b", 2);
  bind(again, {{"", {5, 6}}});
  desk_->pod_gone(again.key());
  bind(pod_of("c", 1), {{"", {6}}});
  EXPECT_FALSE(admit(again));
  EXPECT_THAT(why_, HasSubstr("promised to another pod"));
}

TEST_F(DeskTest, APodThatIsOverOrWasRefusedDoesNotAsk) {
  const PodSpec over = pod_of("over", 2);
  desk_->pod_seen(kube_pod(over, note_of(over, {{"", {0, 1}}}), "Failed"));
  kubelet_.show(over);
  const PodSpec refused = pod_of("refused", 2);
  bind(refused, {{"", {0, 9}}});
  EXPECT_FALSE(admit(refused));
  kubelet_.show(refused);  // as kubelets before 1.34
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {2, 3}}});
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod), ElementsAre("2", "3"));
}

// Of kubelets before 1.34, which list pods that something else has refused.
TEST_F(DeskTest, OfSeveralItIsTheOneThatWasNotListedBefore) {
  const PodSpec stuck = pod_of("stuck", 2);
  bind(stuck, {{"", {0, 1}}});
  const PodSpec first = pod_of("first", 1);
  bind(first, {{"", {7}}});
  kubelet_.show(stuck);
  ASSERT_TRUE(admit(first));
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {2, 3}}});
  EXPECT_TRUE(admit(pod));
  EXPECT_THAT(has(pod), ElementsAre("2", "3"));
}

TEST_F(DeskTest, TwoThatMayAskAreNotGuessed) {
  const PodSpec one = pod_of("one", 2);
  bind(one, {{"", {0, 1}}});
  kubelet_.show(one);
  const PodSpec two = pod_of("two", 2);
  bind(two, {{"", {2, 3}}});
  EXPECT_FALSE(admit(two));
  EXPECT_THAT(why_, HasSubstr("any of 2 pods"));
}

TEST_F(DeskTest, AnnotationsThatAreNotForThePodAreNotObeyed) {
  const PodSpec pod = pod_of("a", 2);
  const PodSpec other = pod_of("a", 2, "other-uid");
  const std::string good = note_of(pod, {{"", {5, 6}}});
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string out = good;
    return out.replace(out.find(what), what.size(), instead);
  };
  for (const std::string& bad :
       {note_of(other, {{"", {5, 6}}}), note_of(pod, {{"", {5, 6}}}, "n2"),
        with("nvidia.com/gpu", "amd.com/gpu"), with("\"v\":1", "\"v\":2"), std::string("{"),
        std::string(1000, '['), note_of(pod, {{"", {5, 8}}}), note_of(pod, {{"", {5}}}),
        note_of(pod, {{"", {5, 6, 7}}, {"main", {1}}}), note_of(pod, {}),
        note_of(pod, {{"elsewhere", {5, 6}}}), with("\"index\":5", "\"index\":6"),
        std::string("\xff\xfe")}) {
    use(OnMismatch::refuse);
    desk_->pod_seen(kube_pod(pod, bad));
    EXPECT_FALSE(admit(pod)) << bad;
    use(OnMismatch::adopt);
    desk_->pod_seen(kube_pod(pod, bad));
    EXPECT_TRUE(admit(pod)) << bad;
    EXPECT_EQ(by_, Choice::By::adopted) << bad;
    EXPECT_FALSE(why_.empty());
    EXPECT_THAT(has(pod), testing::SizeIs(2));
    kubelet_.remove(pod.uid);
  }
}

TEST_F(DeskTest, ChipsThatSomebodyHasAreNotNamed) {
  const PodSpec thief = pod_of("thief", 1);
  kubelet_.give(thief, "main", {"5"});
  desk_->pod_seen(kube_pod(thief, "", "Running"));
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_FALSE(admit(pod));
  EXPECT_THAT(why_, HasSubstr("5"));
}

TEST_F(DeskTest, RequestsThatMakeNoSenseAreRefused) {
  const AskedPreference all{{"0", "1", "2", "3"}, {}, 2};
  use(OnMismatch::adopt);
  for (const AskedPreference& bad :
       {AskedPreference{{"0", "1"}, {}, 0}, AskedPreference{{"0", "1"}, {}, -1},
        AskedPreference{{"0", "1"}, {}, 2'000'000'000}, AskedPreference{{"0"}, {"GPU-x"}, 1},
        AskedPreference{{"0", "1", "2"}, {"0", "1"}, 1}}) {
    const auto got = desk_->prefer(bad, {}, false);
    ASSERT_TRUE(got);
    EXPECT_FALSE(got->choice.ok());
  }
  use(OnMismatch::refuse);
  EXPECT_FALSE(desk_->prefer(all, {}, false)->choice.ok()) << "nobody asks";
  Desk unknown(kNode, test::kGpu, OnMismatch::adopt, true);
  EXPECT_FALSE(unknown.prefer(all, {}, false)->choice.ok()) << "no machine";
}

TEST_F(DeskTest, WithoutAClusterTheBestSet) {
  Desk alone(kNode, test::kGpu, OnMismatch::refuse, false);
  alone.machine(machine_of("hgx-v100-8"));
  const auto got = alone.prefer({{"0", "1", "4", "5"}, {"1"}, 2}, {}, true);
  ASSERT_TRUE(got && got->choice);
  EXPECT_THAT(alone.devices()->ids(got->choice->chips), ElementsAre("1", "5"));
}

}  // namespace
}  // namespace chipweave::device_plugin
