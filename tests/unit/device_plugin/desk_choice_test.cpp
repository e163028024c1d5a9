// Which chips: with init containers of other sizes, unhealthy chips, and what others were promised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/domain/topology_builder.hpp"
#include "tests/unit/device_plugin/desk_fixture.hpp"

namespace chipweave::device_plugin {
namespace {

using test::kube_pod;
using test::note_of;
using test::pod_of;
using test::PodSpec;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::Optional;
using testing::SizeIs;

class DeskChoice : public test::DeskTest {
 protected:
  // A machine of eight chips.
  void unhealthy(int chip) {
    domain::TopologyBuilder builder;
    for (int i = 0; i < 8; ++i) {
      domain::Chip one;
      one.index = domain::ChipIndex{i};
      if (i == chip) one.health = domain::Health::unhealthy;
      builder.add_chip(std::move(one));
    }
    desk_->machine(test::devices_of(*std::move(builder).build()));
  }
  void without_decision(const PodSpec& pod) { desk_->pod_seen(kube_pod(pod, "")); }
};

TEST_F(DeskChoice, DevicesThatAreNoLongerOursAreNotCounted) {
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  kubelet_.show(pod);
  const auto got = desk_->prefer({{"GPU-replaced", "5", "6", "7"}, {}, 2}, kubelet_.list(), false);
  ASSERT_TRUE(got && got->choice);
  EXPECT_THAT(desk_->devices()->ids(got->choice->chips), ElementsAre("5", "6"));
}

// Jobs of three chips have no legal set on an Atlas 800, but the kubelet has counted three.
TEST_F(DeskChoice, ASizeWithoutALegalSetGetsTheLowestFreeChips) {
  desk_->machine(test::machine_of("ascend-910a-8"));
  const Ids free = desk_->devices()->ids({1, 2, 4, 5, 6});
  const PodSpec pod{"a", "u", {{"init", 1, true}, {"main", 3}}};
  without_decision(pod);
  kubelet_.show(pod);
  const auto with = desk_->prefer({free, desk_->devices()->ids({6}), 3}, kubelet_.list(), true);
  ASSERT_TRUE(with && with->choice);
  EXPECT_EQ(with->choice->chips, (domain::ChipSet{1, 2, 6}));
  kubelet_.remove(pod.uid);
  const PodSpec other = pod_of("b", 3);
  without_decision(other);
  kubelet_.show(other);
  const auto got = desk_->prefer({free, {}, 3}, kubelet_.list(), true);
  ASSERT_TRUE(got && got->choice);
  EXPECT_EQ(got->choice->chips, (domain::ChipSet{1, 2, 4}));
}

// The kubelet hears of it a moment later.
TEST_F(DeskChoice, AChipThatHasBecomeUnhealthyIsNotNamed) {
  unhealthy(5);
  const PodSpec pod = pod_of("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_FALSE(admit(pod));
  EXPECT_THAT(why_, HasSubstr("chips 5 of its decision are not free or not healthy"));
  desk_->pod_gone(pod.key());
  const PodSpec other = pod_of("b", 7);
  without_decision(other);
  EXPECT_TRUE(admit(other)) << why_;
  EXPECT_THAT(has(other), Not(testing::Contains("5")));
}

// The kubelet gives it to the next container in any case.
TEST_F(DeskChoice, AChipOfAnInitContainerThatHasBecomeUnhealthyIsKept) {
  unhealthy(5);
  const PodSpec pod{"a", "u", {{"init", 1, true}, {"main", 2}}};
  bind(pod, {{"", {5, 6}}});
  kubelet_.show(pod);
  EXPECT_THAT(ask(2, {"5"}), Optional(ElementsAre("5", "6")));
  without_decision(pod);
  EXPECT_EQ(ask(2, {"5"}), std::nullopt) << "it was answered";
  desk_->kubelet_restarted();
  const auto got = desk_->prefer({{"6"}, {"5"}, 2}, kubelet_.list(), true);
  ASSERT_TRUE(got && got->choice);
  EXPECT_EQ(got->choice->chips, (domain::ChipSet{5, 6}));
}

TEST_F(DeskChoice, WhatAPodThatIsOverWasPromisedIsFree) {
  const PodSpec over = pod_of("over", 6);
  desk_->pod_seen(kube_pod(over, note_of(over, {{"", {0, 1, 2, 3, 4, 5}}}), "Succeeded"));
  const PodSpec pod = pod_of("a", 8);
  without_decision(pod);
  EXPECT_TRUE(admit(pod)) << why_;
}

TEST_F(DeskChoice, WhatAPodWasPromisedIsFreeOnceItHasOtherChips) {
  const PodSpec adopted{"adopted", "u", {{"init", 1, true}, {"main", 2}}};
  bind(adopted, {{"", {5, 6}}});
  kubelet_.give(adopted, "main", {"0", "1"});
  const PodSpec pod = pod_of("a", 6);
  without_decision(pod);
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod), ElementsAre("2", "3", "4", "5", "6", "7"));
}

TEST_F(DeskChoice, WhatThePodItselfWasPromisedIsFreeForIt) {
  use(OnMismatch::adopt);
  const PodSpec pod = pod_of("a", 8);
  bind(pod, {{"", {0, 1, 2, 3}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_EQ(by_, Choice::By::adopted);
}

TEST_F(DeskChoice, AnAnnotationOfAPodThatWantsNoChipsHoldsNone) {
  bind(pod_of("web", 0), {{"", {0, 1, 2, 3}}});
  const PodSpec pod = pod_of("a", 8);
  without_decision(pod);
  EXPECT_TRUE(admit(pod)) << why_;
}

TEST_F(DeskChoice, AnInitContainerMayHaveMoreThanTheOthers) {
  const PodSpec pod{"a", "u", {{"init", 5, true}, {"x", 2}, {"y", 2}}};
  bind(pod, {{"", {7}}, {"x", {0, 1}}, {"y", {2, 3}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod, "init"), ElementsAre("0", "1", "2", "3", "7"));
  EXPECT_THAT(has(pod, "x"), ElementsAre("0", "1"));
  EXPECT_THAT(has(pod, "y"), ElementsAre("2", "3"));
}

TEST_F(DeskChoice, InitContainersOfRisingSizesGetThoseOfTheFirstContainerFirst) {
  const PodSpec pod{"a", "u", {{"i1", 1, true}, {"i2", 2, true}, {"x", 2}, {"y", 2}}};
  bind(pod, {{"x", {5, 6}}, {"y", {1, 2}}});
  EXPECT_TRUE(admit(pod)) << why_;
  EXPECT_THAT(has(pod, "i2"), ElementsAre("5", "6"));
  EXPECT_THAT(has(pod, "x"), ElementsAre("5", "6"));
}

TEST_F(DeskChoice, AnInitContainerWithFewerGetsThoseOfTheFirstContainerFirst) {
  const PodSpec pod{"a", "u", {{"init", 3, true}, {"x", 2}, {"y", 2}}};
  bind(pod, {{"x", {5, 6}}, {"y", {1, 2}}});
  kubelet_.show(pod);
  const auto got = ask(3);
  EXPECT_THAT(got, Optional(testing::AllOf(SizeIs(3), IsSupersetOf({"5", "6"}))));
  EXPECT_THAT(*got, testing::AnyOf(testing::Contains("1"), testing::Contains("2")));
}

}  // namespace
}  // namespace chipweave::device_plugin
