// The rules of leaf switch affinity as cases; tor_affinity_oracle_test.cpp checks it exhaustively.
#include "common/solver/vendor/tor_affinity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chipweave::solver {
namespace {

using domain::TorNetwork;
using domain::TorRequest;
using domain::TorSchema;
using domain::TorState;
using domain::TorUse;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr TorState kExclusive{TorUse::exclusive};
constexpr TorState kShared{TorUse::shared};
constexpr TorState kUnhealthy{TorUse::shared, false};
constexpr TorState kSharedByNormal{TorUse::shared, true, false};

// "+.+": three nodes, the middle one cannot take a pod. Nodes are called LEAF/SLICE.
TorLeaf leaf(const std::string& name, const std::string& places, TorState state = {}) {
  TorLeaf out{name, {}, state};
  for (std::size_t s = 0; s < places.size(); ++s)
    out.nodes.push_back({name + "/" + std::to_string(s), places[s] == '+'});
  return out;
}

const TorRequest kLarge1{TorSchema::large_model, TorNetwork::nslb_1};
const TorRequest kNormal1{TorSchema::normal, TorNetwork::nslb_1};
const TorRequest kLarge2{TorSchema::large_model, TorNetwork::nslb_2};
const TorRequest kNormal2{TorSchema::normal, TorNetwork::nslb_2};
const TorRequest kSingle{TorSchema::normal, TorNetwork::single_layer};

TorPlan plan(const std::vector<TorLeaf>& leaves, int pods, const TorRequest& ask) {
  const Result<TorPlan> out = plan_tor(leaves, pods, ask);
  return out ? *out : TorPlan{false, {}, {}, true, "error: " + out.error().text()};
}
// The nodes by rank.
std::vector<std::string> nodes(const std::vector<TorLeaf>& leaves, const TorPlan& of) {
  std::vector<std::string> out;
  for (const TorPod& pod : of.pods) out.push_back(leaves[pod.leaf].nodes[pod.slice].name);
  return out;
}
// "a=2:exclusive" for each leaf that is used.
std::vector<std::string> uses(const std::vector<TorLeaf>& leaves, const TorPlan& of) {
  std::vector<std::string> out;
  for (const TorLeafUse& use : of.leaves) {
    const char* word = use.state.use == TorUse::free     ? "free"
                       : use.state.use == TorUse::shared ? "shared"
                                                         : "exclusive";
    out.push_back(leaves[use.leaf].name + "=" + std::to_string(use.pods) + ":" + word +
                  (use.state.healthy ? "" : "-unhealthy"));
  }
  return out;
}
std::vector<std::string> uses(const std::vector<TorLeaf>& leaves, int pods, const TorRequest& ask) {
  return uses(leaves, plan(leaves, pods, ask));
}

TEST(TorAffinity, UnderOneLeafTheTightestAndItsStateStays) {
  const std::vector<TorLeaf> leaves{leaf("a", "++++"), leaf("b", "+.++"), leaf("c", "++.+")};
  for (const TorRequest& ask : {kLarge1, kNormal1, kLarge2, kSingle}) {
    const TorPlan got = plan(leaves, 3, ask);
    EXPECT_THAT(nodes(leaves, got), ElementsAre("b/0", "b/2", "b/3"));
    EXPECT_THAT(uses(leaves, got), ElementsAre("b=3:free"));
  }
}

TEST(TorAffinity, FillersStayUnderOneLeafOrWait) {
  const std::vector<TorLeaf> leaves{leaf("a", "++.."), leaf("b", "+...")};
  for (const TorRequest& ask : {kLarge1, kLarge2}) {
    const TorPlan got = plan(leaves, 3, ask);
    EXPECT_FALSE(got.fits);
    EXPECT_TRUE(got.pods.empty());
    EXPECT_THAT(got.reason, HasSubstr("no leaf takes 3 pods: the most is 2, under a"));
  }
  // four replicas are not a filler job, and normal jobs never are
  EXPECT_TRUE(plan(leaves, 3, kNormal1).fits);
  EXPECT_TRUE(plan(leaves, 3, kNormal2).fits);
  EXPECT_TRUE(plan({leaf("a", "++"), leaf("b", "++")}, 4, kLarge2).fits);
  EXPECT_FALSE(plan({leaf("a", "++"), leaf("b", "++")}, 3, kLarge2).fits);
}

TEST(TorAffinity, SingleLayerNeverCrosses) {
  const std::vector<TorLeaf> leaves{leaf("a", "++++"), leaf("b", "++++", kExclusive)};
  EXPECT_TRUE(plan(leaves, 4, kSingle).fits);
  const TorPlan got = plan(leaves, 5, kSingle);
  EXPECT_FALSE(got.fits);
  EXPECT_THAT(got.reason, HasSubstr("no leaf takes 5 pods"));
  EXPECT_THAT(plan({leaf("a", "..")}, 1, kSingle).reason, HasSubstr("none has a node for one"));
}

TEST(TorAffinity, NullTakesAnyNodesAndChangesNoState) {
  const std::vector<TorLeaf> leaves{leaf("a", "+.", kExclusive), leaf("b", "++"),
                                    leaf("c", "+.", kShared)};
  const TorRequest ask{TorSchema::none, TorNetwork::nslb_2};
  EXPECT_THAT(uses(leaves, 3, ask), ElementsAre("a=1:exclusive", "b=2:free"));
  EXPECT_THAT(plan(leaves, 5, ask).reason, HasSubstr("5 pods asked, 4 nodes can take one"));
}

TEST(TorAffinity1, CompleteLeavesFirst) {
  const std::vector<TorLeaf> leaves{leaf("t10", "+++"), leaf("t2", "+++"), leaf("t1", ".++"),
                                    leaf("t3", "+++", kExclusive)};
  const TorPlan got = plan(leaves, 5, kLarge1);
  EXPECT_THAT(nodes(leaves, got), ElementsAre("t2/0", "t2/1", "t2/2", "t10/0", "t10/1"));
  EXPECT_THAT(uses(leaves, got), ElementsAre("t2=3:exclusive", "t10=2:exclusive"));
  EXPECT_EQ(got.pods[3].row, 1U);
}

TEST(TorAffinity1, ThenLogicalLeavesOfAllSlices) {
  // slice 0 under a and c, 1 under a and b, 2 under b and c
  const std::vector<TorLeaf> leaves{leaf("a", "++."), leaf("b", ".++"), leaf("c", "+.+")};
  const TorPlan got = plan(leaves, 6, kLarge1);
  ASSERT_TRUE(got.fits);
  EXPECT_THAT(nodes(leaves, got), ElementsAre("a/0", "a/1", "b/2", "c/0", "b/1", "c/2"));
  EXPECT_EQ(got.leaves.size(), 3U);
  EXPECT_TRUE(got.fewest);
}

TEST(TorAffinity1, ASliceWithoutDepthIsRefusedForLargeModels) {
  const std::vector<TorLeaf> leaves{leaf("a", "++."), leaf("b", "++."), leaf("c", "++.")};
  const TorPlan got = plan(leaves, 5, kLarge1);
  EXPECT_FALSE(got.fits);
  EXPECT_THAT(got.reason, HasSubstr("too few nodes of some slice"));
  EXPECT_THAT(uses(leaves, 5, kNormal1),
              ElementsAre("a=2:exclusive", "b=2:exclusive", "c=1:exclusive"));
}

TEST(TorAffinity1, CrossingJobsDoNotMeet) {
  const std::vector<TorLeaf> leaves{leaf("a", "+++", kExclusive), leaf("b", "+++")};
  EXPECT_FALSE(plan(leaves, 4, kLarge1).fits);
  // any nodes, when nothing else is left
  EXPECT_THAT(uses(leaves, 4, kNormal1), ElementsAre("b=1:exclusive", "a=3:shared"));
  // under one leaf no other job is affected
  EXPECT_THAT(uses(leaves, 3, kLarge1), ElementsAre("a=3:exclusive"));
}

TEST(TorAffinity1, PlacesBelowALeafMayBeMoreThanNodes) {
  TorRequest ask = kLarge1;
  ask.leaf_nodes = 4;
  EXPECT_FALSE(plan({leaf("a", "+++"), leaf("b", "+++")}, 6, ask).fits);
  EXPECT_TRUE(plan({leaf("a", "+++"), leaf("b", "+++")}, 6, kLarge1).fits);
}

TEST(TorAffinity2, SmallJobsFillLeavesThatAreInUse) {
  std::vector<TorLeaf> leaves{leaf("free", "++++"), leaf("shared", "++++", kShared),
                              leaf("bad", "++++", kUnhealthy), leaf("tight", ".+++", kUnhealthy),
                              leaf("own", "++++", kExclusive)};
  EXPECT_THAT(uses(leaves, 3, kLarge2), ElementsAre("own=3:exclusive"));
  leaves.pop_back();
  EXPECT_THAT(uses(leaves, 3, kLarge2), ElementsAre("tight=3:shared-unhealthy"));
  leaves.pop_back();
  EXPECT_THAT(uses(leaves, 3, kLarge2), ElementsAre("bad=3:shared-unhealthy"));
  leaves.pop_back();
  EXPECT_THAT(uses(leaves, 3, kLarge2), ElementsAre("shared=3:shared"));
  leaves.pop_back();
  EXPECT_THAT(uses(leaves, 3, kLarge2), ElementsAre("free=3:free"));
}

TEST(TorAffinity2, FreeLeavesWholeThenTheClosestSharedOne) {
  const std::vector<TorLeaf> leaves{leaf("a", "++++"), leaf("b", "++++"), leaf("c", "++++"),
                                    leaf("s", "+++.", kShared), leaf("t", "++..", kShared)};
  EXPECT_THAT(uses(leaves, 10, kLarge2),
              ElementsAre("a=4:exclusive", "b=4:exclusive", "t=2:shared"));
  EXPECT_THAT(uses(leaves, 8, kLarge2), ElementsAre("a=4:exclusive", "b=4:exclusive"));
}

TEST(TorAffinity2, TwoSharedLeavesBeforeAFreeOneBecomesShared) {
  const std::vector<TorLeaf> leaves{leaf("a", "++++"), leaf("b", "++++"),
                                    leaf("s", "++..", kShared), leaf("t", "+...", kShared)};
  EXPECT_THAT(uses(leaves, 7, kLarge2), ElementsAre("a=4:exclusive", "s=2:shared", "t=1:shared"));
  TorRequest one = kLarge2;
  one.shared_tors = 1;
  EXPECT_THAT(uses(leaves, 7, one), ElementsAre("a=4:exclusive", "b=3:shared"));
}

TEST(TorAffinity2, TheClosestPairOfSharedLeaves) {
  const std::vector<TorLeaf> leaves{leaf("s", "+....", kShared), leaf("t", "++...", kShared),
                                    leaf("u", "+++..", kShared), leaf("v", "+++..", kShared)};
  EXPECT_THAT(uses(leaves, 4, kLarge2), ElementsAre("s=1:shared", "u=3:shared"));
  EXPECT_THAT(uses(leaves, 5, kLarge2), ElementsAre("t=2:shared", "u=3:shared"));
  EXPECT_THAT(uses(leaves, 6, kLarge2), ElementsAre("u=3:shared", "v=3:shared"));
  EXPECT_FALSE(plan(leaves, 7, kLarge2).fits);
  const std::vector<TorLeaf> uneven{leaf("s", "++..", kShared), leaf("t", "++++", kShared),
                                    leaf("u", "+++.", kShared)};
  EXPECT_THAT(uses(uneven, 5, kLarge2), ElementsAre("s=2:shared", "u=3:shared"));
}

TEST(TorAffinity2, AFreeLeafOfExactlyTheRestIsNotShared) {
  const std::vector<TorLeaf> leaves{leaf("a", "+++++"), leaf("b", "++++."), leaf("c", "+++.."),
                                    leaf("s", "+++..", kShared)};
  EXPECT_THAT(uses(leaves, 8, kLarge2), ElementsAre("a=5:exclusive", "c=3:exclusive"));
}

TEST(TorAffinity2, UnhealthyAndExclusiveLeavesAreNotCrossed) {
  const std::vector<TorLeaf> leaves{leaf("a", "+++"), leaf("b", "+++", kUnhealthy),
                                    leaf("c", "+++", kExclusive)};
  const TorPlan got = plan(leaves, 5, kLarge2);
  EXPECT_FALSE(got.fits);
  EXPECT_THAT(got.reason, HasSubstr("free leaves take 3, at most 2 healthy shared leaves 0"));
}

TEST(TorAffinity2, NormalJobsSpillOverWhereNoLargeModelSuffers) {
  const std::vector<TorLeaf> leaves{leaf("a", "+++"), leaf("b", "+++", kUnhealthy),
                                    leaf("c", "+++", kSharedByNormal), leaf("d", ".++", kShared),
                                    leaf("e", ".++", kShared)};
  EXPECT_THAT(uses(leaves, 5, kNormal2), ElementsAre("a=3:exclusive", "d=2:shared"));
  EXPECT_THAT(uses(leaves, 9, kNormal2),
              ElementsAre("a=3:exclusive", "b=3:shared-unhealthy", "c=3:shared-unhealthy"));
  EXPECT_THAT(plan(leaves, 10, kNormal2).reason,
              HasSubstr("unhealthy shared leaves and those without a large model 6"));
}

TEST(TorAffinity2, SharedLeavesRememberLargeModels) {
  const std::vector<TorLeaf> leaves{leaf("a", "+++"), leaf("s", "+++", kSharedByNormal)};
  const TorPlan large = plan(leaves, 4, kLarge2);
  ASSERT_EQ(large.leaves.size(), 2U);
  EXPECT_TRUE(large.leaves[1].state.large_model);
  const TorPlan normal = plan(leaves, 4, kNormal2);
  ASSERT_EQ(normal.leaves.size(), 2U);
  EXPECT_FALSE(normal.leaves[0].state.large_model);
  EXPECT_FALSE(normal.leaves[1].state.large_model);
}

TEST(TorAffinity, WhatCannotBeAskedIsNamed) {
  const auto problem = [](const std::vector<TorLeaf>& leaves, int pods, const TorRequest& ask) {
    const Result<TorPlan> out = plan_tor(leaves, pods, ask);
    return out ? "" : out.error().text();
  };
  EXPECT_THAT(problem({leaf("a", "+")}, 0, kLarge2), HasSubstr("pods"));
  TorRequest three = kLarge2;
  three.shared_tors = 3;
  EXPECT_THAT(problem({leaf("a", "+")}, 1, three), HasSubstr("tor.shared_tor_num"));
  EXPECT_THAT(problem({leaf("a", "+"), leaf("a", "+")}, 1, kLarge2), HasSubstr("leaf a"));
  TorRequest small = kLarge1;
  small.leaf_nodes = 1;
  EXPECT_THAT(problem({leaf("a", "++")}, 1, small), HasSubstr("tor.leaf_nodes"));
  EXPECT_FALSE(plan({}, 5, kLarge1).fits);
  EXPECT_FALSE(plan({}, 5, kNormal2).fits);
}

TEST(TorAffinity1, ManyLeavesOfManyKindsEndInTime) {
  std::vector<TorLeaf> leaves;
  unsigned bits = 12345;
  for (int i = 0; i < 200; ++i) {
    std::string places(16, '.');
    for (char& place : places) {
      bits = bits * 1664525U + 1013904223U;
      if ((bits >> 16U) % 10U < 7U) place = '+';
    }
    leaves.push_back(leaf("t" + std::to_string(i), places));
  }
  const TorPlan got = plan(leaves, 500, kLarge1);
  ASSERT_TRUE(got.fits) << got.reason;
  EXPECT_EQ(got.pods.size(), 500U);
  EXPECT_GE(got.leaves.size(), 500U / 16U);
}

}  // namespace
}  // namespace chipweave::solver
