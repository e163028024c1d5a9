// Gangs: planned once all pods are there, all or nothing, each pod on its own node.
#include "scheduler-plugin/app/gangs/gangs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/app/gangs/gang_status.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

PodRequest gang_pod(int index, int size, int chips = 8, const std::string& gang = "train",
                    int minimum = 0) {
  PodRequest out = World::request(gang + "-" + std::to_string(index), chips);
  GangMark mark;
  mark.framework = "chipweave";
  mark.name = gang;
  mark.index = index;
  mark.size = size;
  if (minimum > 0) mark.minimum = minimum;
  out.mark = std::make_shared<const GangMark>(std::move(mark));
  return out;
}

void add_nodes(World& w, int count, const std::string& machine = "hgx-h100-8") {
  for (int i = 0; i < count; ++i) w.add_node("n" + std::to_string(i), machine);
}

std::vector<PodRequest> submit_all(World& w, int pods, int size, int chips = 8,
                                   const std::string& gang = "train", int minimum = 0) {
  std::vector<PodRequest> out;
  out.reserve(static_cast<std::size_t>(pods));
  for (int i = 0; i < pods; ++i) out.push_back(w.submit(gang_pod(i, size, chips, gang, minimum)));
  return out;
}

std::set<std::string> reasons(World& w, const PodRequest& pod) {
  std::set<std::string> out;
  for (const auto& [node, why] : w.rejections(pod)) out.insert(why);
  return out;
}

TEST(Gangs, WaitUntilAllPodsAreThereAndHoldNothingUntilThen) {
  World w;
  add_nodes(w, 4);
  const auto pods = submit_all(w, 3, 4);
  for (const auto& pod : pods)
    EXPECT_THAT(reasons(w, pod), ElementsAre("waiting for the other pods of gang train"));
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  EXPECT_EQ(w.scheduler.gathered(), 0U);
  const auto last = w.submit(gang_pod(3, 4));
  EXPECT_EQ(w.scheduler.gathered(), 1U);
  EXPECT_THAT(w.fit(pods[1]), SizeIs(1));
  EXPECT_EQ(w.scheduler.ledger().reserved(), 4U);
  w.expect_sound();
}

TEST(Gangs, EachPodGetsTheNodeOfItsRankAndItsOwnOnly) {
  World w;
  add_nodes(w, 4);
  const auto pods = submit_all(w, 4, 4);
  // the last one is evaluated first
  for (const int i : {3, 0, 2, 1}) {
    const std::string node = "n" + std::to_string(i);
    EXPECT_THAT(w.fit(pods[static_cast<std::size_t>(i)]), ElementsAre(node));
  }
  EXPECT_EQ(w.rejections(pods[0]).at("n1"), "the plan of the pod's gang has another node for it");
  for (const int i : {2, 1, 0, 3}) {
    const std::string node = "n" + std::to_string(i);
    const auto& pod = pods[static_cast<std::size_t>(i)];
    ASSERT_TRUE(w.bind(pod, node).ok());
    const auto& written = w.cluster.written(pod.key);
    EXPECT_EQ(written.at("chipweave.dev/rank"), std::to_string(i));
    const Json gang = Json::parse(written.at("chipweave.dev/placement")).at("gang");
    EXPECT_EQ(gang.at("name"), "ns/train");
    EXPECT_EQ(gang.at("rank"), i);
    EXPECT_EQ(gang.at("size"), 4);
    w.expect_sound();
  }
}

TEST(Gangs, AllPodsOrNone) {
  World w;
  add_nodes(w, 3);
  const auto pods = submit_all(w, 4, 4);
  EXPECT_THAT(reasons(w, pods[0]), ElementsAre("no room for all pods of gang train"));
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  // nothing has changed: it is not planned again, and the text stays
  EXPECT_THAT(reasons(w, pods[2]), ElementsAre("no room for all pods of gang train"));
  w.add_node("n3", "hgx-h100-8");
  EXPECT_THAT(w.fit(pods[2]), ElementsAre("n2"));
  EXPECT_EQ(w.scheduler.ledger().reserved(), 4U);
  w.expect_sound();
}

TEST(Gangs, SeveralPodsShareANodeWithoutSharingChips) {
  World w;
  add_nodes(w, 2);
  const auto pods = submit_all(w, 8, 8, 2);
  std::map<std::string, int> per_node;
  for (const auto& pod : pods) {
    const auto fits = w.fit(pod);
    ASSERT_THAT(fits, SizeIs(1));
    ASSERT_TRUE(w.bind(pod, *fits.begin()).ok());
    ++per_node[*fits.begin()];
    EXPECT_THAT(w.chips(pod), SizeIs(2));
  }
  EXPECT_EQ(per_node, (std::map<std::string, int>{{"n0", 4}, {"n1", 4}}));
  w.expect_sound();
}

TEST(Gangs, APodThatReplacesAnotherTakesItsPlace) {
  World w;
  add_nodes(w, 3);
  const auto pods = submit_all(w, 3, 3);
  ASSERT_THAT(w.fit(pods[1]), ElementsAre("n1"));
  ASSERT_TRUE(w.cluster.end(pods[1].key).ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 3U);
  w.expect_sound();
  PodRequest again = gang_pod(1, 3);
  again.uid = "uid-again";
  again = w.submit(again);
  EXPECT_THAT(w.fit(again), ElementsAre("n1"));
  ASSERT_TRUE(w.bind(again, "n1").ok());
  w.expect_sound();
}

TEST(Gangs, TheChipsOfABoundPodThatIsGoneAreForItsReplacement) {
  World w;
  add_nodes(w, 3);
  const auto pods = submit_all(w, 2, 2);
  for (const auto& pod : pods) ASSERT_TRUE(w.bind(pod, *w.fit(pod).begin()).ok());
  ASSERT_TRUE(w.cluster.end(pods[0].key).ok());
  w.expect_sound();
  PodRequest again = gang_pod(0, 2);
  again.uid = "uid-again";
  again = w.submit(again);
  EXPECT_THAT(w.fit(again), ElementsAre("n0"));
  w.expect_sound();
}

TEST(Gangs, ANodeThatIsNotOfferedIsReplaced) {
  World w;
  add_nodes(w, 4);
  const auto pods = submit_all(w, 3, 3);
  ASSERT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  // the scheduler offers no n1
  w.names.erase("n1");
  EXPECT_THAT(w.fit(pods[1]), SizeIs(1));
  std::set<std::string> used;
  for (const auto& pod : pods) {
    const auto fits = w.fit(pod);
    ASSERT_THAT(fits, SizeIs(1));
    ASSERT_TRUE(w.bind(pod, *fits.begin()).ok());
    used.insert(*fits.begin());
  }
  EXPECT_THAT(used, ElementsAre("n0", "n2", "n3"));
  w.expect_sound();
}

TEST(Gangs, WhatIsNotOfferedIsNotPlannedOn) {
  World w;
  add_nodes(w, 4);
  w.names = {"n1", "n3"};
  const auto pods = submit_all(w, 2, 2);
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n1"));
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n3"));
}

TEST(Gangs, ChipsThatFailBeforeTheBindingAreReplaced) {
  World w;
  add_nodes(w, 3);
  const auto pods = submit_all(w, 2, 2);
  ASSERT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  w.set_health("n1", 3, domain::Health::unhealthy);
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n2"));
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  w.expect_sound();
}

TEST(Gangs, ReservationsEndIfThePodsAreNotBoundInTime) {
  World w;
  add_nodes(w, 2);
  const auto pods = submit_all(w, 2, 2);
  ASSERT_TRUE(w.bind(pods[0], *w.fit(pods[0]).begin()).ok());
  w.clock.advance(GangPlans::kLifetime + std::chrono::seconds(1));
  for (const char* node : {"n0", "n1"}) w.set_health(node, 0, domain::Health::healthy);
  w.scheduler.tick();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
  // it is planned again beside the pod that runs
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n1"));
  w.expect_sound();
}

TEST(Gangs, MorePodsThanMustStartComeBesideTheOthers) {
  World w;
  add_nodes(w, 3);
  const auto pods = submit_all(w, 2, 4, 8, "train", 2);
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n1"));
  const auto third = w.submit(gang_pod(2, 4, 8, "train", 2));
  EXPECT_THAT(w.fit(third), ElementsAre("n2"));
  const auto fourth = w.submit(gang_pod(3, 4, 8, "train", 2));
  EXPECT_THAT(reasons(w, fourth), ElementsAre("no room for all pods of gang train"));
  // the others keep their places
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  EXPECT_THAT(w.fit(third), ElementsAre("n2"));
  w.expect_sound();
}

TEST(Gangs, OfOneNameInTwoNamespacesAreTwo) {
  World w;
  add_nodes(w, 4);
  auto other = gang_pod(0, 2);
  other.key.ns = "other";
  other.uid = "uid-other";
  const auto there = w.submit(other);
  const auto here = w.submit(gang_pod(1, 2));
  EXPECT_THAT(reasons(w, here), ElementsAre("waiting for the other pods of gang train"));
  EXPECT_THAT(reasons(w, there), ElementsAre("waiting for the other pods of gang train"));
}

TEST(Gangs, EndWithTheirLastPod) {
  World w;
  add_nodes(w, 4);
  const auto pods = submit_all(w, 2, 2);
  ASSERT_THAT(w.fit(pods[0]), SizeIs(1));
  for (const auto& pod : pods) ASSERT_TRUE(w.cluster.end(pod.key).ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  EXPECT_THAT(w.scheduler.gang_plans().all(), IsEmpty());
  EXPECT_THAT(w.scheduler.gangs().all(), IsEmpty());
  w.expect_sound();
}

TEST(Gangs, APodIsBoundElsewhereOnlyIfItsSchedulerInsists) {
  World w;
  add_nodes(w, 3);
  const auto pods = submit_all(w, 2, 2);
  ASSERT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  ASSERT_TRUE(w.bind(pods[0], "n2").ok());
  w.expect_sound();
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n1"));
  // its place is free again
  const auto single = w.submit("single", 8);
  EXPECT_THAT(w.fit(single), ElementsAre("n0"));
}

TEST(Gangs, TwoKindsOfChipsAreNoGang) {
  World w;
  add_nodes(w, 2);
  w.add_node("a0", "ascend-910b-8");
  auto npu = gang_pod(1, 2);
  npu.resource = "huawei.com/Ascend910";
  const auto first = w.submit(gang_pod(0, 2));
  w.submit(npu);
  EXPECT_THAT(reasons(w, first),
              ElementsAre("gang train cannot be planned: its pods request nvidia.com/gpu and "
                          "huawei.com/Ascend910; a gang can have one kind of chips only"));
  w.expect_sound();
}

// Its other pods are made only once the first is bound.
TEST(Gangs, OfSequentialPodsTheFirstBringsThePlanOfAll) {
  World w;
  add_nodes(w, 4);
  const auto sequential = [](int index) {
    PodRequest pod = gang_pod(index, 3);
    GangMark mark = *pod.mark;
    mark.sequential = true;
    pod.mark = std::make_shared<const GangMark>(std::move(mark));
    return pod;
  };
  const auto leader = w.submit(sequential(0));
  EXPECT_THAT(w.fit(leader), ElementsAre("n0"));
  EXPECT_EQ(w.scheduler.ledger().reserved(), 3U);
  ASSERT_TRUE(w.bind(leader, "n0").ok());
  // what is reserved for the others is not given away
  const auto single = w.submit("single", 8);
  EXPECT_THAT(w.fit(single), ElementsAre("n3"));
  const auto worker = w.submit(sequential(2));
  EXPECT_THAT(w.fit(worker), ElementsAre("n2"));
  EXPECT_EQ(w.node_of(worker), "n2");
  w.expect_sound();
}

// The same where the owner object says it.
TEST(Gangs, OfSequentialOwnersTheFirstPodBringsThePlanOfAll) {
  World w;
  add_nodes(w, 4);
  GangSpec spec;
  spec.size = 3;
  spec.sequential = true;
  w.scheduler.owner_says("ns/chipweave/train", spec);
  PodRequest pod = gang_pod(1, 3);
  GangMark mark = *pod.mark;
  mark.size.reset();
  pod.mark = std::make_shared<const GangMark>(std::move(mark));
  EXPECT_THAT(w.fit(w.submit(pod)), ElementsAre("n1"));
  EXPECT_EQ(w.scheduler.ledger().reserved(), 3U);
  w.expect_sound();
}

TEST(Gangs, PodsWithoutChipsCountButHaveNoPlace) {
  World w;
  add_nodes(w, 2);
  auto launcher = gang_pod(0, 3, 0);
  launcher = w.submit(launcher);
  const auto first = w.submit(gang_pod(1, 3));
  EXPECT_THAT(reasons(w, first), ElementsAre("waiting for the other pods of gang train"));
  const auto second = w.submit(gang_pod(2, 3));
  EXPECT_THAT(w.fit(first), ElementsAre("n0"));
  EXPECT_THAT(w.fit(second), ElementsAre("n1"));
  EXPECT_EQ(w.scheduler.ledger().reserved(), 2U);
  w.expect_sound();
}

TEST(Gangs, GroupsOfAckAreNotPlannedAsAWhole) {
  World w;
  add_nodes(w, 2);
  PodRequest pod = gang_pod(0, 2);
  GangMark mark = *pod.mark;
  mark.framework = "ack";
  pod.mark = std::make_shared<const GangMark>(std::move(mark));
  EXPECT_THAT(w.fit(w.submit(pod)), ElementsAre("n0", "n1"));
  EXPECT_EQ(w.scheduler.gang_view().status(*w.scheduler.gangs().of(pod.uid)).state,
            GangState::ungrouped);
}

TEST(Gangs, ArePlacedOneByOneIfThatIsWanted) {
  SchedulerOptions options;
  options.plan_gangs = false;
  World w(options);
  add_nodes(w, 2);
  const auto pod = w.submit(gang_pod(0, 8));
  EXPECT_THAT(w.fit(pod), ElementsAre("n0", "n1"));
}

std::map<std::string, std::string> rack_of(int node) {
  return {{"cloud.provider.com/topology-block", "b" + std::to_string(node / 4)},
          {"cloud.provider.com/topology-rack", "r" + std::to_string(node / 2)}};
}

TEST(Gangs, AreInAsFewDomainsAsCanBe) {
  World w;
  for (int i = 0; i < 8; ++i) {
    const auto labels = rack_of(i);
    w.scheduler.network().set_labels("n" + std::to_string(i), {labels.begin(), labels.end()});
  }
  add_nodes(w, 8);
  // one node of the first block is in use, so four pods fit into the second only
  ASSERT_TRUE(w.bind(w.submit("filler", 8), "n1").ok());
  const auto pods = submit_all(w, 4, 4);
  for (int i = 0; i < 4; ++i) {
    const auto& pod = pods[static_cast<std::size_t>(i)];
    const std::string node = "n" + std::to_string(4 + i);
    EXPECT_THAT(w.fit(pod), ElementsAre(node));
    ASSERT_TRUE(w.bind(pod, node).ok());
    const Json gang = Json::parse(w.cluster.written(pod.key).at("chipweave.dev/placement"))["gang"];
    EXPECT_EQ(gang["path"], (Json{"b1", "r" + std::to_string(2 + i / 2)}));
  }
}

TEST(Gangs, ALevelThatIsRequiredIsKept) {
  World w;
  for (int i = 0; i < 4; ++i) {
    const auto labels = rack_of(i);
    w.scheduler.network().set_labels("n" + std::to_string(i), {labels.begin(), labels.end()});
  }
  add_nodes(w, 4);
  const auto in_one = [](const std::string& gang, int index, const char* level) {
    PodRequest pod = gang_pod(index, 3, 8, gang);
    GangMark mark = *pod.mark;
    mark.topology.required = {level};
    pod.mark = std::make_shared<const GangMark>(std::move(mark));
    return pod;
  };
  std::vector<PodRequest> rack;
  std::vector<PodRequest> block;
  std::vector<PodRequest> unknown;
  for (int i = 0; i < 3; ++i) {
    rack.push_back(w.submit(in_one("rack", i, "cloud.provider.com/topology-rack")));
    block.push_back(w.submit(in_one("block", i, "cloud.provider.com/topology-block")));
    unknown.push_back(w.submit(in_one("unknown", i, "example.com/row")));
  }
  EXPECT_THAT(reasons(w, rack[0]), ElementsAre("no room for all pods of gang rack"));
  EXPECT_THAT(reasons(w, unknown[1]), ElementsAre(testing::HasSubstr("example.com/row")));
  EXPECT_THAT(w.fit(block[0]), ElementsAre("n0"));
}

// kube-scheduler with percentageOfNodesToScore.
TEST(Gangs, ANodeThatIsMissingInASampleIsNotReplacedAtOnce) {
  World w;
  add_nodes(w, 130);
  const auto pods = submit_all(w, 2, 2);
  ASSERT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  w.names.erase("n1");
  for (int i = 100; i < 110; ++i) w.names.erase("n" + std::to_string(i));
  for (int i = 0; i < 7; ++i)
    EXPECT_THAT(reasons(w, pods[1]),
                ElementsAre("the plan of the pod's gang has another node for it"));
  w.names.insert("n1");
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n1"));
  w.names.erase("n1");
  w.fit(pods[1]);
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n2"));
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  w.expect_sound();
}

TEST(Gangs, TheNominatedNodeAloneIsNoReasonToPlanAgain) {
  World w;
  add_nodes(w, 3);
  std::vector<PodRequest> pods;
  for (int i = 0; i < 2; ++i) {
    ClusterPod pod;
    pod.request = gang_pod(i, 2);
    pod.nominated = "n2";
    ASSERT_TRUE(w.cluster.add(pod, "{}").ok());
    pods.push_back(pod.request);
  }
  const auto all = w.names;
  w.names = {"n2"};
  EXPECT_THAT(w.fit(pods[0]), IsEmpty());
  w.names = all;
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  w.names = {"n2"};
  EXPECT_THAT(w.fit(pods[1]), IsEmpty());
  w.names = all;
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n1"));
  w.expect_sound();
}

// kube-scheduler may ask before the watch has shown the pod.
TEST(Gangs, APodThatTheClusterDoesNotShowYetWaits) {
  World w;
  add_nodes(w, 2);
  const auto first = w.submit(gang_pod(0, 2));
  const PodRequest unseen = gang_pod(1, 2);
  EXPECT_THAT(reasons(w, unseen), ElementsAre("waiting for the other pods of gang train"));
  EXPECT_THAT(reasons(w, gang_pod(0, 3, 8, "other")),
              ElementsAre("waiting for the other pods of gang other"));
  const auto before = w.scheduler.gathered();
  w.submit(unseen);
  EXPECT_GT(w.scheduler.gathered(), before);
  EXPECT_THAT(w.fit(unseen), ElementsAre("n1"));
  // an unseen pod without a gang is placed as ever
  EXPECT_THAT(w.fit(World::request("alone", 1)), IsEmpty());
  EXPECT_EQ(w.rejections(World::request("alone", 1)).at("n0"), "not enough free chips");
}

TEST(Gangs, APodWithoutAPlaceIsNotBound) {
  World w;
  add_nodes(w, 2);
  const auto first = w.submit(gang_pod(0, 2));
  const auto refused = w.bind(first, "n1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "pod ns/train-0 waits for its gang, which has no plan yet");
  w.submit(gang_pod(1, 2));
  EXPECT_THAT(w.fit(first), ElementsAre("n0"));
  EXPECT_TRUE(w.bind(first, "n0").ok());
}

TEST(Gangs, AStepDownEndsAllPlans) {
  World w;
  add_nodes(w, 2);
  const auto pods = submit_all(w, 2, 2);
  ASSERT_THAT(w.fit(pods[0]), SizeIs(1));
  w.scheduler.step_down();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n1"));
}

}  // namespace
}  // namespace chipweave::sched::test
