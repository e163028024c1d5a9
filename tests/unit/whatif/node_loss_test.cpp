// What the loss of nodes does to pods, gangs and free chips.
#include "cli/whatif/node_loss.hpp"

#include <gmock/gmock.h>

#include "tests/unit/whatif/live_nodes.hpp"

namespace chipweave::cli {
namespace {

using nlohmann::json;
using test::kAll;
using test::live_node;
using test::live_pod;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

NodeLoss lose(const std::vector<json>& nodes, const std::vector<json>& pods,
              const std::vector<std::string>& lost, LossKind kind = LossKind::fail,
              const std::vector<codec::GangSummary>& gangs = {}) {
  auto out = lose_nodes({test::node_views(nodes), test::pod_summaries(pods), gangs}, lost, kind);
  EXPECT_TRUE(out.ok()) << out.error().text();
  return out ? *std::move(out) : NodeLoss();
}

json member(const std::string& name, const std::string& node, const std::vector<int>& chips) {
  json pod = live_pod(name, node, chips);
  pod["gang"] = {{"name", "g"}, {"framework", "labels"}};
  pod["job"] = "g";
  return pod;
}

TEST(NodeLoss, PodsFindRoomTogetherLargestFirst) {
  const NodeLoss loss = lose(
      {live_node("n1", {6, 7}), live_node("n2", {0, 1, 2, 3}), live_node("n3", {0, 1})},
      {live_pod("a", "n1", {0, 1}), live_pod("b", "n1", {2, 3, 4, 5}), live_pod("c", "n2", {7})},
      {"n1"});
  ASSERT_EQ(loss.pods.size(), 2U);
  EXPECT_EQ(loss.pods[0].name, "b");
  ASSERT_TRUE(loss.pods[0].to);
  EXPECT_EQ(loss.pods[0].to->node, "n2");
  EXPECT_THAT(loss.pods[0].to->chips, ElementsAre(0, 1, 2, 3));
  EXPECT_GT(loss.pods[0].gbps, 0) << "of the chips, where the scheduler has no figure";
  ASSERT_TRUE(loss.pods[1].to);
  EXPECT_EQ(loss.pods[1].to->node, "n3");
  EXPECT_TRUE(loss.all_fit());
  EXPECT_EQ(loss.free_before, 8);
  EXPECT_EQ(loss.free_without, 6) << "the free chips of n1 are gone, too";
  EXPECT_EQ(loss.free_after, 0);
}

TEST(NodeLoss, APodWithoutRoomSaysWhy) {
  const NodeLoss loss =
      lose({live_node("n1", {}), live_node("n2", {0, 1, 2, 3, 4, 5})},
           {live_pod("a", "n1", {0, 1, 2, 3}), live_pod("b", "n1", {4, 5, 6, 7})}, {"n1"});
  EXPECT_FALSE(loss.all_fit());
  EXPECT_TRUE(loss.pods[0].to);
  EXPECT_FALSE(loss.pods[1].to);
  EXPECT_EQ(loss.pods[1].reason,
            "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 failed");
  EXPECT_EQ(loss.free_after, 2);
  const std::string text = node_loss_text(loss, false);
  EXPECT_THAT(text, HasSubstr("n1 fails: 2 pods lose 8 chips; 1 fits elsewhere, 1 does not\n"));
  EXPECT_THAT(text, HasSubstr("Without a place:\n  d/b: 0/2 nodes are available"));
  EXPECT_THAT(text, HasSubstr("Free chips: 6 now, 6 without the node, 2 with the pods in their new "
                              "places\n"));
}

TEST(NodeLoss, DrainedNodesTakeNoPods) {
  const NodeLoss loss = lose({live_node("n1", {4, 5, 6, 7}), live_node("n2", kAll)},
                             {live_pod("a", "n1", {0, 1, 2, 3})}, {"n1"}, LossKind::drain);
  ASSERT_TRUE(loss.pods.at(0).to);
  EXPECT_EQ(loss.pods[0].to->node, "n2") << "n1 would be left fuller";
  EXPECT_THAT(node_loss_text(loss, false),
              HasSubstr("n1 is drained: 1 pod loses 4 chips; it fits elsewhere\n"));
  const NodeLoss both =
      lose({live_node("n1", {4, 5, 6, 7}), live_node("n2", kAll)},
           {live_pod("a", "n1", {0, 1, 2, 3})}, {"n1", "n2", "n1"}, LossKind::drain);
  EXPECT_THAT(both.nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(both.pods[0].reason, "0/2 nodes are available: 2 drained");
}

TEST(NodeLoss, SilentNodesAreNoPlace) {
  json silent = live_node("n2", kAll);
  silent["stale"] = true;
  const NodeLoss loss = lose({live_node("n1", {}), silent}, {live_pod("a", "n1", {0})}, {"n1"});
  EXPECT_FALSE(loss.all_fit());
  EXPECT_EQ(loss.free_without, 0);
}

codec::GangSummary gang_of(int quorum) {
  codec::GangSummary gang;
  gang.ns = "d";
  gang.name = "g";
  gang.quorum = quorum;
  return gang;
}

TEST(NodeLoss, AGangIsPlacedAsFarAsItNeedsOrNotAtAll) {
  const std::vector<json> pods{member("g-0", "n1", {0, 1, 2, 3}), member("g-1", "n1", {4, 5, 6, 7}),
                               member("g-2", "n3", {0, 1}), live_pod("x", "n1", {})};
  std::vector<json> nodes{live_node("n1", {}), live_node("n2", {0, 1, 2, 3}), live_node("n3", {})};
  const NodeLoss none = lose(nodes, pods, {"n1"}, LossKind::fail, {gang_of(3)});
  ASSERT_EQ(none.pods.size(), 2U) << "pods without chips lose none";
  EXPECT_FALSE(none.pods[0].to);
  EXPECT_EQ(none.pods[0].reason, "its gang needs 2 of the pods that it loses, and 1 fits");
  EXPECT_THAT(none.pods[1].reason, HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_EQ(none.free_after, 4) << "what g-0 had got is free again";
  ASSERT_EQ(none.gangs.size(), 1U);
  EXPECT_THAT(node_loss_text(none, false),
              HasSubstr("Gangs that lose pods:\n  d/g: loses 2 of 3 pods and stops, since it needs "
                        "3; 0 of the lost fit elsewhere, too few to start\n    again\n"));
  const NodeLoss two = lose(nodes, pods, {"n1"}, LossKind::fail, {gang_of(2)});
  EXPECT_TRUE(two.pods[0].to) << "with one of them it can start";
  EXPECT_FALSE(two.pods[1].to);
  EXPECT_TRUE(two.gangs[0].stops());
  EXPECT_TRUE(two.gangs[0].fits());
  const NodeLoss one = lose(nodes, pods, {"n1"}, LossKind::fail, {gang_of(1)});
  EXPECT_FALSE(one.gangs[0].stops());
  nodes.push_back(live_node("n4", kAll));
  const NodeLoss fits = lose(nodes, pods, {"n1"}, LossKind::fail, {gang_of(3)});
  EXPECT_TRUE(fits.all_fit());
  EXPECT_TRUE(fits.gangs[0].fits());
}

TEST(NodeLoss, PodsOfAGangWithoutQuorumArePlacedOneByOne) {
  const NodeLoss loss = lose({live_node("n1", {}), live_node("n2", {0, 1, 2, 3})},
                             {member("g-0", "n1", {0, 1, 2, 3}), member("g-1", "n1", {4, 5, 6, 7})},
                             {"n1"}, LossKind::fail, {gang_of(0)});
  EXPECT_TRUE(loss.pods[0].to);
  EXPECT_FALSE(loss.pods[1].to);
  EXPECT_THAT(loss.gangs, IsEmpty());
}

TEST(NodeLoss, AGangThatDoesNotFitLeavesItsRoomToSmallerPods) {
  const NodeLoss loss = lose({live_node("n1", {}), live_node("n2", {0, 1, 2, 3})},
                             {member("g-0", "n1", {0, 1, 2}), member("g-1", "n1", {3, 4, 5}),
                              live_pod("small", "n1", {6, 7})},
                             {"n1"}, LossKind::fail, {gang_of(2)});
  EXPECT_FALSE(loss.pods[0].to);
  EXPECT_FALSE(loss.pods[1].to);
  EXPECT_TRUE(loss.pods[2].to);
}

TEST(NodeLoss, PodsOfAGroupShareANode) {
  std::vector<json> pods{live_pod("a", "n1", {0, 1, 2}), live_pod("b", "n1", {3, 4, 5})};
  for (json& pod : pods) pod["group"] = "g";
  const NodeLoss apart = lose(
      {live_node("n1", {}), live_node("n2", {0, 1, 2}), live_node("n3", {0, 1, 2})}, pods, {"n1"});
  EXPECT_EQ(apart.pods[0].reason,
            "0/3 nodes are available: 2 no room for all 2 pods of the group on one node, 1 failed");
  const NodeLoss together =
      lose({live_node("n1", {}), live_node("n2", {0, 1, 2}), live_node("n3", kAll)}, pods, {"n1"});
  ASSERT_TRUE(together.all_fit());
  EXPECT_EQ(together.pods[0].to->node, "n3");
  EXPECT_EQ(together.pods[1].to->node, "n3");
  EXPECT_NE(together.pods[0].to->chips, together.pods[1].to->chips);
}

TEST(NodeLoss, BandwidthIsThatOfAllChipsOfTheJobOnTheNode) {
  std::vector<json> pods{live_pod("a", "n1", {0}), live_pod("b", "n1", {3})};
  for (json& pod : pods) pod["job"] = "j";
  const NodeLoss loss =
      lose({live_node("n1", {}, "hgx-v100-8"), live_node("n2", {0, 1, 2, 3})}, pods, {"n1"});
  for (const LostPod& pod : loss.pods) {
    EXPECT_EQ(pod.gbps, 40);
    EXPECT_GT(pod.to->gbps, 300) << "for the first one, too";
  }
}

TEST(NodeLoss, PodsWithPartsOfChipsAreNamedOnly) {
  json node = live_node("n1", {});
  node["parts"] = {{"chips", {0}}, {"pods", {"d/part"}}};
  const NodeLoss loss = lose({node, live_node("n2", kAll)}, {live_pod("part", "n1", {0})}, {"n1"});
  EXPECT_THAT(loss.pods, IsEmpty());
  EXPECT_THAT(node_loss_text(loss, false), HasSubstr("n1 fails: no pod loses whole chips\n"));
  EXPECT_THAT(node_loss_text(loss, false),
              HasSubstr("Not considered, because they use parts of chips: d/part\n"));
}

TEST(NodeLoss, AnswersAsJson) {
  const NodeLoss loss = lose({live_node("n1", {}), live_node("n2", kAll)},
                             {live_pod("a", "n1", {0, 1}), live_pod("b", "n2", {})}, {"n1"});
  const json answer = json::parse(node_loss_json(loss));
  EXPECT_EQ(answer["event"], "fail");
  EXPECT_EQ(answer["nodes"], json({"n1"}));
  EXPECT_EQ(answer["pods"][0]["from"]["node"], "n1");
  EXPECT_EQ(answer["pods"][0]["to"]["node"], "n2");
  EXPECT_EQ(answer["pods"][0]["to"]["chips"].size(), 2U);
  EXPECT_GT(answer["pods"][0]["to"]["gbps"], 0);
  EXPECT_EQ(answer["free"], json({{"before", 8}, {"without", 8}, {"after", 6}}));
  EXPECT_EQ(answer["without_place"], 0);
}

TEST(NodeLoss, AnUnknownNodeIsNamedWithItsFlag) {
  const auto loss = lose_nodes({test::node_views({live_node("gpu-1", kAll)}), {}, {}}, {"gpu-2"},
                               LossKind::drain);
  ASSERT_FALSE(loss);
  EXPECT_THAT(loss.error().text(),
              HasSubstr("--drain: unknown node \"gpu-2\" (did you mean \"gpu-1\"?)"));
}

}  // namespace
}  // namespace chipweave::cli
