// kube-scheduler's own gangs (PodGroup) whose object is known: planned at the first filter of an
// attempt, in which kube-scheduler evaluates all members before it binds one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kRack = "cloud.provider.com/topology-rack";

class NativeGangs : public ::testing::Test {
 protected:
  // Two nodes a rack, two racks a block.
  void add_nodes(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string node = "n" + std::to_string(i);
      w_.scheduler.network().set_labels(
          node, {{"cloud.provider.com/topology-block", "b" + std::to_string(i / 4)},
                 {kRack, "r" + std::to_string(i / 2)}});
      w_.add_node(node, "hgx-h100-8");
    }
  }
  void group(const std::string& name, int least, std::vector<std::string> required = {}) {
    GangSpec spec;
    spec.minimum = least;
    spec.topology.required = std::move(required);
    w_.scheduler.owner_says("ns/kubernetes/" + name, spec);
  }
  std::vector<PodRequest> submit(const std::string& gang, int pods, int chips = 8) {
    std::vector<PodRequest> out;
    for (int i = 0; i < pods; ++i) out.push_back(w_.submit(member(gang, i, chips)));
    return out;
  }
  static PodRequest member(const std::string& gang, int index, int chips = 8) {
    PodRequest pod = World::request(gang + "-" + std::to_string(index), chips);
    pod.gang = "ns/" + gang;
    GangMark mark;
    mark.framework = "kubernetes";
    mark.name = gang;
    pod.mark = std::make_shared<const GangMark>(std::move(mark));
    return pod;
  }
  static SchedulerOptions options() {
    SchedulerOptions out;
    out.gang_owners = {"kubernetes"};
    return out;
  }
  std::vector<std::string_view> fit(const PodRequest& pod, std::vector<std::string_view> nodes) {
    return fitting(w_.scheduler, pod, nodes);
  }
  std::size_t reserved() const { return w_.scheduler.ledger().reserved(); }
  std::uint64_t plan_version(const std::string& gang) const {
    return w_.scheduler.gang_plans().find("ns/kubernetes/" + gang)->version;
  }
  void pass(std::chrono::milliseconds time) {
    w_.clock.advance(time);
    for (const std::string& node : w_.names) w_.scheduler.heartbeat(node, "boot");
    w_.scheduler.tick();
    w_.expect_sound();
  }
  World w_{options()};
};

TEST_F(NativeGangs, AreInAsFewDomainsAsCanBe) {
  add_nodes(8);
  ASSERT_TRUE(w_.bind(w_.submit("filler", 8), "n1").ok());
  group("train", 4);
  const auto pods = submit("train", 4);
  for (int i = 0; i < 4; ++i)
    EXPECT_THAT(w_.fit(pods[static_cast<std::size_t>(i)]),
                ElementsAre("n" + std::to_string(4 + i)));
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(w_.bind(pods[static_cast<std::size_t>(i)], "n" + std::to_string(4 + i)).ok());
    w_.expect_sound();
  }
}

// The watches of pods and of PodGroups are not one: kube-scheduler may know both before we do.
TEST_F(NativeGangs, WhoseObjectIsNotKnownYetWait) {
  add_nodes(4);
  const auto pods = submit("train", 2);
  for (const auto& pod : pods) {
    EXPECT_THAT(w_.fit(pod), IsEmpty());
    EXPECT_EQ(w_.rejections(pod).at("n0"), "waiting for the owner object of gang train");
  }
  const auto before = w_.scheduler.gathered();
  group("train", 2);
  EXPECT_GT(w_.scheduler.gathered(), before);
  for (const auto& pod : pods) EXPECT_THAT(w_.fit(pod), SizeIs(1));
  EXPECT_NE(w_.scheduler.gang_plans().find("ns/kubernetes/train"), nullptr);
}

TEST_F(NativeGangs, WhoseObjectDoesNotComeArePlacedOneByOne) {
  add_nodes(4);
  const auto pods = submit("train", 2);
  EXPECT_THAT(w_.fit(pods[0]), IsEmpty());
  const auto before = w_.scheduler.gathered();
  pass(std::chrono::seconds(5));
  EXPECT_EQ(w_.scheduler.gathered(), before);
  EXPECT_THAT(w_.fit(pods[1]), IsEmpty());
  pass(std::chrono::seconds(5));
  EXPECT_GT(w_.scheduler.gathered(), before);
  for (const auto& pod : pods) EXPECT_THAT(w_.fit(pod), SizeIs(4));
}

TEST_F(NativeGangs, WhosePodsAreNotKnownYetWait) {
  add_nodes(4);
  group("train", 2);
  EXPECT_THAT(w_.rejections(member("train", 0)),
              Contains(Pair("n0", "waiting for the other pods of gang train")));
  EXPECT_THAT(w_.rejections(member("unknown", 0)),
              Contains(Pair("n0", "waiting for the owner object of gang unknown")));
  const auto before = w_.scheduler.gathered();
  submit("train", 1);
  EXPECT_GT(w_.scheduler.gathered(), before);
}

TEST_F(NativeGangs, HoldNothingWhereTheyDoNotFitAsAWhole) {
  add_nodes(2);
  group("train", 3);
  const auto pods = submit("train", 3);
  for (const auto& pod : pods) {
    EXPECT_THAT(w_.fit(pod), IsEmpty());
    EXPECT_EQ(reserved(), 0U);
  }
  w_.add_node("n2", "hgx-h100-8");
  EXPECT_THAT(w_.fit(pods[0]), SizeIs(1));
  EXPECT_EQ(reserved(), 3U);
}

TEST_F(NativeGangs, MorePodsThanMustStartArePlannedBesideThem) {
  add_nodes(4);
  group("train", 2);
  const auto pods = submit("train", 5);
  std::set<std::string> nodes;
  for (int i = 0; i < 5; ++i) {
    const auto fit = w_.fit(pods[static_cast<std::size_t>(i)]);
    nodes.insert(fit.begin(), fit.end());
  }
  EXPECT_THAT(nodes, SizeIs(4));
  pass(SpeculativeReservations::kFailedLifetime);
  EXPECT_EQ(reserved(), 4U);
}

TEST_F(NativeGangs, AnAttemptThatFailedHoldsNothing) {
  add_nodes(2);
  group("train", 2);
  const auto pods = submit("train", 2);
  for (const auto& pod : pods) EXPECT_THAT(w_.fit(pod), SizeIs(1));
  EXPECT_EQ(reserved(), 2U);
  w_.scheduler.reconciler().pod_unschedulable(w_.pod(pods[0]));
  pass(SpeculativeReservations::kFailedLifetime);
  EXPECT_EQ(reserved(), 0U);
  // and it is tried again
  for (const auto& pod : pods) EXPECT_THAT(w_.fit(pod), SizeIs(1));
  EXPECT_EQ(reserved(), 2U);
  w_.scheduler.reconciler().pod_unschedulable(w_.pod(pods[1]));
  EXPECT_THAT(w_.fit(w_.submit("other", 8)), SizeIs(2));
}

// Of an attempt that kube-scheduler begins again nothing else tells that the one before has failed.
TEST_F(NativeGangs, AttemptsThatRepeatHaveOnePlanThatGivesWay) {
  add_nodes(2);
  group("train", 2);
  const auto pods = submit("train", 2);
  std::vector<std::string> first;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<std::string> now;
    for (const auto& pod : pods) now.push_back(*w_.fit(pod).begin());
    if (attempt == 0) first = now;
    EXPECT_EQ(now, first);
    EXPECT_EQ(reserved(), 2U);
    pass(std::chrono::milliseconds(100));
  }
  EXPECT_THAT(w_.fit(w_.submit("other", 8)), SizeIs(testing::Ge(1U)));
  w_.expect_sound();
}

// While volumes are prepared, nothing else may take the chips.
TEST_F(NativeGangs, WhatIsBoundSlowlyKeepsItsPlaces) {
  add_nodes(4);
  group("train", 2);
  const auto pods = submit("train", 2);
  std::vector<std::string> nodes;
  for (int attempt = 0; attempt < 2; ++attempt) {
    nodes.clear();
    for (const auto& pod : pods) nodes.push_back(*w_.fit(pod).begin());
  }
  pass(std::chrono::seconds(60));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(w_.bind(pods[i], nodes[i]).ok());
  w_.expect_sound();
}

// kube-scheduler tries one rack after the other; only the third has two free nodes.
TEST_F(NativeGangs, ATopologyConstraintIsAcceptedInTheDomainOfThePlanOnly) {
  add_nodes(8);
  ASSERT_TRUE(w_.bind(w_.submit("a", 8), "n1").ok());
  ASSERT_TRUE(w_.bind(w_.submit("b", 8), "n2").ok());
  ASSERT_TRUE(w_.bind(w_.submit("c", 8), "n6").ok());
  group("train", 2, {kRack});
  const auto pods = submit("train", 2);
  const auto attempt = [&] {
    std::vector<std::string_view> taken;
    for (const auto& rack : std::vector<std::vector<std::string_view>>{
             {"n0", "n1"}, {"n2", "n3"}, {"n4", "n5"}, {"n6", "n7"}}) {
      for (const auto& pod : pods) {
        const auto fit_here = fit(pod, rack);
        taken.insert(taken.end(), fit_here.begin(), fit_here.end());
      }
    }
    return taken;
  };
  EXPECT_THAT(attempt(), ElementsAre("n4", "n5"));
  const std::uint64_t version = plan_version("train");
  EXPECT_THAT(attempt(), ElementsAre("n4", "n5"));
  EXPECT_EQ(plan_version("train"), version) << "it was planned again";
  pass(SpeculativeReservations::kFailedLifetime);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(w_.bind(pods[i], "n" + std::to_string(4 + i)).ok());
  w_.expect_sound();
}

// Its own scheduler rules a node of the planned rack out.
TEST_F(NativeGangs, AnotherDomainIsPlannedWhereANodeOfItsOwnIsRuledOut) {
  add_nodes(4);
  group("train", 2, {kRack});
  const auto pods = submit("train", 2);
  EXPECT_THAT(fit(pods[0], {"n0", "n1"}), ElementsAre("n0"));
  EXPECT_THAT(fit(pods[1], {"n0"}), IsEmpty());
  EXPECT_THAT(fit(pods[0], {"n2", "n3"}), SizeIs(1));
  EXPECT_THAT(fit(pods[1], {"n2", "n3"}), SizeIs(1));
  w_.expect_sound();
}

TEST_F(NativeGangs, WithATopologyThatTheNetworkDoesNotKnowPodsArePlacedOneByOne) {
  add_nodes(4);
  group("train", 2, {"example.com/row"});
  const auto pods = submit("train", 2);
  EXPECT_THAT(w_.fit(pods[0]), SizeIs(4));
}

TEST_F(NativeGangs, WhoseObjectsAreNotWatchedArePlacedOneByOne) {
  World w;
  for (const char* node : {"n0", "n1"}) w.add_node(node, "hgx-h100-8");
  const PodRequest first = w.submit(member("train", 0));
  w.submit(member("train", 1));
  EXPECT_THAT(w.fit(first), SizeIs(2));
}

}  // namespace
}  // namespace chipweave::sched::test
