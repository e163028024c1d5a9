// What may start: a container with the chips of its pod's annotation that no other pod has.
#include "node-agent/device_plugin/core/start_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/kube/pod/placement.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/io/files.hpp"
#include "tests/unit/device_plugin/sim_kubelet.hpp"

namespace chipweave::device_plugin {
namespace {

using test::kube_pod;
using test::note_of;
using test::PodSpec;
using testing::HasSubstr;
using testing::Not;
using Verdict = StartCheck::Verdict;

class StartCheckTest : public testing::Test {
 protected:
  void bind(const PodSpec& pod, const std::map<std::string, std::vector<int>>& parts) {
    book_.take(kube_pod(pod, note_of(pod, parts)));
  }
  StartCheck check(const std::vector<std::string>& ids,
                   OnMismatch policy = OnMismatch::refuse) const {
    return check_start(ids, kubelet_.list(), book_, *devices_, policy);
  }

  domain::NodeTopology topology_ = io::load_machine("hgx-v100-8")->topology;
  DevicesPtr devices_ =
      std::make_shared<const Devices>(topology_, std::make_shared<solver::Machine>(topology_));
  test::SimKubelet kubelet_{8};
  PodBook book_{test::kNode, test::kGpu};
  PodSpec one_{"a", "u", {{"main", 2}}};
  PodSpec two_{"b", "v", {{"x", 2}, {"y", 1}}};
};

TEST_F(StartCheckTest, TheChipsOfTheDecisionStart) {
  bind(one_, {{"", {5, 6}}});
  kubelet_.give(one_, "main", {"5", "6"});
  EXPECT_EQ(check({"6", "5"}).verdict, Verdict::start);
}

TEST_F(StartCheckTest, OthersAreRefusedOrAdopted) {
  bind(one_, {{"", {5, 6}}});
  kubelet_.give(one_, "main", {"5", "7"});
  const StartCheck refused = check({"5", "7"});
  EXPECT_EQ(refused.verdict, Verdict::refuse);
  EXPECT_THAT(refused.why, HasSubstr("5,7"));
  const StartCheck adopted = check({"5", "7"}, OnMismatch::adopt);
  EXPECT_EQ(adopted.verdict, Verdict::adopt);
  EXPECT_EQ(adopted.pod.uid, "u");
  const auto note = codec::read_placement(adopted.placement);
  ASSERT_TRUE(note.ok()) << adopted.placement;
  EXPECT_EQ(note->chips, (std::vector<int>{5, 7}));
  EXPECT_EQ(note->decision, "d-000001");
  EXPECT_EQ(note->details[0].container, "");
  auto later = kube_pod(one_, adopted.placement);
  book_.take(later);
  EXPECT_EQ(check({"5", "7"}).verdict, Verdict::start) << "what was adopted is right";
}

TEST_F(StartCheckTest, ContainersAreToldApart) {
  bind(two_, {{"x", {0, 4}}, {"y", {3}}});
  kubelet_.give(two_, "x", {"0", "4"});
  kubelet_.give(two_, "y", {"3"});
  EXPECT_EQ(check({"0", "4"}).verdict, Verdict::start);
  EXPECT_EQ(check({"3"}).verdict, Verdict::start);
  kubelet_.give(two_, "x", {"0", "3"});
  kubelet_.give(two_, "y", {"4"});
  EXPECT_EQ(check({"0", "3"}).verdict, Verdict::refuse);
  const StartCheck adopted = check({"4"}, OnMismatch::adopt);
  const auto note = codec::read_placement(adopted.placement);
  ASSERT_TRUE(note.ok());
  ASSERT_EQ(note->details.size(), 3U);
  EXPECT_EQ(note->details[1], (codec::PlacementChip{3, "", "x"}));
  EXPECT_EQ(note->details[2], (codec::PlacementChip{4, "", "y"}));
}

// The kubelet gives an init container's chips to the next containers as it likes.
TEST_F(StartCheckTest, ASplitThatAnInitContainerHasMixedUpIsAlwaysAdopted) {
  const PodSpec pod{"c", "w", {{"init", 3, true}, {"x", 2}, {"y", 2}}};
  bind(pod, {{"x", {0, 1}}, {"y", {2, 3}}});
  kubelet_.give(pod, "x", {"0", "2"});
  kubelet_.give(pod, "y", {"1", "3"});
  EXPECT_EQ(check({"0", "1", "2"}).verdict, Verdict::start) << "the init container";
  EXPECT_EQ(check({"0", "2"}).verdict, Verdict::adopt);
  kubelet_.give(pod, "y", {"1", "7"});
  EXPECT_EQ(check({"1", "7"}).verdict, Verdict::refuse);
  EXPECT_EQ(check({"0", "2"}).verdict, Verdict::refuse) << "not only the split is another one";
}

TEST_F(StartCheckTest, APodWithAnInitContainerAloneIsFoundByItsDecision) {
  const PodSpec pod{"c", "w", {{"init", 2, true}, {"main", 0}}};
  const PodSpec other{"d", "x", {{"init", 2, true}, {"main", 0}}};
  bind(pod, {{"", {0, 1}}});
  bind(other, {{"", {2, 3}}});
  kubelet_.show(pod);
  kubelet_.show(other);
  EXPECT_EQ(check({"0", "1"}).verdict, Verdict::start);
  EXPECT_EQ(check({"2", "3"}).verdict, Verdict::start);
  EXPECT_EQ(check({"0", "3"}).verdict, Verdict::unknown);
}

TEST_F(StartCheckTest, AChipOfTwoPodsNeverStarts) {
  bind(one_, {{"", {5, 6}}});
  kubelet_.give(one_, "main", {"5", "6"});
  kubelet_.give(two_, "y", {"6"});
  for (const OnMismatch policy : {OnMismatch::refuse, OnMismatch::adopt}) {
    const StartCheck got = check({"5", "6"}, policy);
    EXPECT_EQ(got.verdict, Verdict::refuse);
    EXPECT_THAT(got.why, HasSubstr("two pods"));
  }
}

TEST_F(StartCheckTest, WhatIsNotKnownYetIsAskedAgain) {
  EXPECT_EQ(check({"5", "6"}).verdict, Verdict::unknown);
  kubelet_.give(one_, "main", {"5", "6"});
  EXPECT_EQ(check({"5", "6"}).verdict, Verdict::unknown);
  EXPECT_EQ(check({"GPU-x"}).verdict, Verdict::refuse);
  EXPECT_EQ(check({}).verdict, Verdict::refuse);
}

TEST_F(StartCheckTest, PodsWithoutADecisionStart) {
  book_.take(kube_pod(one_, ""));
  kubelet_.give(one_, "main", {"5", "6"});
  EXPECT_EQ(check({"5", "6"}).verdict, Verdict::start);
}

TEST_F(StartCheckTest, AnAnnotationThatIsNotForThePodIsRefusedOrReplaced) {
  auto pod =
      kube_pod(one_, "{\"v\":1,\"podUid\":\"other\",\"x\":{\"y\":[1]},\"gang\":{\"rank\":3}}");
  book_.take(pod);
  kubelet_.give(one_, "main", {"5", "6"});
  EXPECT_EQ(check({"5", "6"}).verdict, Verdict::refuse);
  const StartCheck adopted = check({"5", "6"}, OnMismatch::adopt);
  EXPECT_THAT(adopted.placement, HasSubstr(R"("x":{"y":[1]})"));
  EXPECT_THAT(adopted.placement, HasSubstr(R"("gang":{"rank":3})"));
  book_.take(kube_pod(one_, "not json at all"));
  EXPECT_TRUE(codec::read_placement(check({"5", "6"}, OnMismatch::adopt).placement).ok());
}

TEST_F(StartCheckTest, AnAnnotationThatIsNoObjectIsReplacedByOneThatIs) {
  kubelet_.give(one_, "main", {"5", "6"});
  book_.take(kube_pod(one_, "[1,2]"));
  EXPECT_THAT(check({"5", "6"}, OnMismatch::adopt).placement, Not(HasSubstr(R"("":)")));
}

TEST_F(StartCheckTest, WhatWasAdoptedTwiceIsSaidOnce) {
  bind(one_, {{"", {0, 1}}});
  kubelet_.give(one_, "main", {"5", "6"});
  const std::string first = check({"5", "6"}, OnMismatch::adopt).placement;
  book_.take(kube_pod(one_, first));
  kubelet_.give(one_, "main", {"5", "7"});
  const std::string second = check({"5", "7"}, OnMismatch::adopt).placement;
  EXPECT_TRUE(codec::read_placement(second).ok()) << second;
  for (const char* key : {R"("adopted":)", R"("podUid":)", R"("gbps":)", R"("chips":)"}) {
    EXPECT_NE(second.find(key), std::string::npos) << key;
    EXPECT_EQ(second.find(key), second.rfind(key)) << key;
  }
}

TEST_F(StartCheckTest, WhatIsAdoptedIsSaidAsTheSchedulerSaysIt) {
  domain::TopologyBuilder builder;
  for (int i = 0; i < 4; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    chip.id = "chip-" + std::to_string(i);
    chip.device_ips = {"10.0.0." + std::to_string(i)};
    builder.add_chip(std::move(chip));
  }
  topology_ = *std::move(builder).build();
  devices_ =
      std::make_shared<const Devices>(topology_, std::make_shared<solver::Machine>(topology_));
  const PodSpec pod{"a", "u", {{"main", 2}, {"none", 0}}};
  bind(pod, {{"", {0, 1}}});
  const auto ids = devices_->ids({2, 3});
  kubelet_.give(pod, "main", {ids.begin(), ids.end()});
  const std::string text = check(ids, OnMismatch::adopt).placement;
  EXPECT_THAT(text, HasSubstr(R"({"index":2,"id":"chip-2","ip":"10.0.0.2"})")) << "one has chips";
  const auto note = codec::read_placement(text);
  ASSERT_TRUE(note.ok());
  EXPECT_EQ(note->gbps, devices_->machine().gbps({2, 3}));
  EXPECT_GT(note->gbps, 0);
}

TEST_F(StartCheckTest, ADeviceThatIsNotOursNeverStartsBesideOneThatIs) {
  bind(one_, {{"", {5, 6}}});
  kubelet_.give(one_, "main", {"5", "6"});
  EXPECT_EQ(check({"5", "6", "GPU-x"}).verdict, Verdict::refuse);
}

TEST_F(StartCheckTest, AChipOfTwoContainersNeverStarts) {
  const PodSpec pod{"b", "v", {{"x", 2}, {"y", 2}}};
  bind(pod, {{"", {0, 1, 2, 3}}});
  kubelet_.give(pod, "x", {"0", "1"});
  kubelet_.give(pod, "y", {"2", "3"});
  EXPECT_EQ(check({"0", "1"}).verdict, Verdict::start);
  kubelet_.give(pod, "y", {"1", "2"});
  for (const OnMismatch policy : {OnMismatch::refuse, OnMismatch::adopt})
    EXPECT_EQ(check({"0", "1"}, policy).verdict, Verdict::refuse);
}

// The list is older than the container, or the kubelet has not recorded all of it.
TEST_F(StartCheckTest, AContainerThatIsListedWithOtherChipsIsAskedAgain) {
  bind(one_, {{"", {5, 6}}});
  kubelet_.give(one_, "main", {"5", "6"});
  EXPECT_EQ(check({"5"}).verdict, Verdict::unknown);
}

TEST_F(StartCheckTest, AContainerThatTheDecisionDoesNotNameHasNoneOfItsChips) {
  bind(two_, {{"x", {0, 4}}});
  kubelet_.give(two_, "x", {"3", "4"});
  kubelet_.give(two_, "y", {"0"});
  EXPECT_EQ(check({"0"}).verdict, Verdict::refuse);
}

TEST_F(StartCheckTest, APodThatIsGoneStartsWithTheChipsThatItHasWhereTheyWouldBeAdopted) {
  bind(one_, {{"", {5, 6}}});
  kubelet_.give(one_, "main", {"0", "1"});
  book_.drop(one_.key());
  EXPECT_EQ(check({"0", "1"}).verdict, Verdict::refuse);
  const StartCheck got = check({"0", "1"}, OnMismatch::adopt);
  EXPECT_EQ(got.verdict, Verdict::start);
  EXPECT_EQ(got.placement, "") << "there is no annotation to correct";
}

// Of pods without decisions, the one that can be the owner of an init container's chips.
TEST_F(StartCheckTest, AnInitContainersOwnerIsTheOnlyPodThatCanBeIt) {
  const auto take = [this](const PodSpec& pod, const std::string& phase = "Pending") {
    book_.take(kube_pod(pod, "", phase));
    return pod;
  };
  const PodSpec starting = take({"starting", "u1", {{"init", 2, true}, {"main", 0}}});
  kubelet_.show(starting);
  kubelet_.show(take({"over", "u2", {{"init", 2, true}, {"main", 0}}}, "Failed"));
  kubelet_.show(take({"smaller", "u3", {{"init", 1, true}, {"main", 0}}}));
  kubelet_.give(take({"served", "u4", {{"init", 2, true}, {"main", 1}}}), "main", {"7"});
  const StartCheck got = check({"0", "1"});
  EXPECT_EQ(got.verdict, Verdict::start) << got.why;
  EXPECT_EQ(got.pod.uid, starting.uid);
  kubelet_.show(take({"another", "u5", {{"init", 2, true}, {"main", 0}}}));
  EXPECT_EQ(check({"0", "1"}).verdict, Verdict::unknown);
}

}  // namespace
}  // namespace chipweave::device_plugin
