// Where a pod would fit: order, chips, what is left, and why the other nodes do not fit.
#include "cli/whatif/where.hpp"

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

ClusterModel model(const std::vector<json>& nodes, const std::vector<json>& pods = {}) {
  auto made = ClusterModel::of(test::node_views(nodes), test::pod_summaries(pods));
  EXPECT_TRUE(made.ok()) << made.error().text();
  return *std::move(made);
}

PodNeed need(int chips) {
  PodNeed out;
  out.resource = "nvidia.com/gpu";
  out.chips = chips;
  return out;
}

std::vector<std::string> names(const ClusterModel& cluster, const std::vector<Seat>& seats) {
  std::vector<std::string> out;
  out.reserve(seats.size());
  for (const Seat& seat : seats) out.push_back(cluster.nodes()[seat.node].name);
  return out;
}

TEST(Where, TheNodeThatAPodFillsComesBeforeAWholeOneThatItWouldBreak) {
  const ClusterModel cluster = model({live_node("n1", kAll), live_node("n2", {4, 5, 6, 7})});
  const Places places = find_places(cluster, need(4), 1);
  EXPECT_THAT(names(cluster, places.seats), ElementsAre("n2", "n1"));
  EXPECT_THAT(cluster.indices(places.seats[0].node, places.seats[0].parts[0]),
              ElementsAre(4, 5, 6, 7));
  EXPECT_TRUE(places.seats[0].left.empty());
  EXPECT_EQ(places.seats[1].left.size(), 4);
  EXPECT_TRUE(places.all_fit());
}

TEST(Where, AFasterMachineComesFirstAndEqualNodesInNaturalOrder) {
  const ClusterModel cluster =
      model({live_node("n10", kAll), live_node("n2", kAll), live_node("a", kAll, "hgx-v100-8")});
  EXPECT_THAT(names(cluster, find_places(cluster, need(8), 1).seats),
              ElementsAre("n2", "n10", "a"));
}

TEST(Where, NodesThatDoNotFitAreCountedInTheFormOfKubeScheduler) {
  json stale = live_node("n3", kAll);
  stale["stale"] = true;
  json closed = live_node("n4", kAll);
  closed["closed"] = true;
  json ill = live_node("n5", {0, 1, 2});
  ill["unhealthy"] = {3, 4, 5, 6, 7};
  json other = live_node("n6", kAll);
  other["resources"] = {"amd.com/gpu"};
  const ClusterModel cluster =
      model({live_node("n1", {0}), live_node("n2", {1}), stale, closed, ill, other});
  const Places places = find_places(cluster, need(4), 1);
  EXPECT_FALSE(places.all_fit());
  EXPECT_EQ(places.outlook.summary(),
            "0/6 nodes are available: 2 Insufficient nvidia.com/gpu, 1 Insufficient healthy "
            "nvidia.com/gpu, 1 NotReady (the agent is silent), 1 NotReady (the device plugin is "
            "not ready), 1 without nvidia.com/gpu");
  EXPECT_THAT(find_places(cluster, need(9), 1).outlook.summary(),
              HasSubstr("the machine has fewer chips than requested"));
}

TEST(Where, SeveralPodsTakeChipsFromEachOther) {
  const ClusterModel cluster = model({live_node("n1", kAll), live_node("n2", {4, 5, 6, 7})});
  const Places three = find_places(cluster, need(4), 3);
  EXPECT_TRUE(three.all_fit());
  EXPECT_THAT(names(cluster, three.seats), ElementsAre("n2", "n1", "n1"));
  const Places four = find_places(cluster, need(4), 4);
  EXPECT_FALSE(four.all_fit());
  EXPECT_THAT(
      places_text(cluster, four, false),
      HasSubstr("-\n3 of 4 pods fit; for the next:\n0/2 nodes are available: 2 Insufficient "
                "nvidia.com/gpu\n"));
}

TEST(Where, PodsOfOneJobCountTheChipsThatItHoldsThere) {
  json held = live_pod("a", "n1", {0, 1});
  held["job"] = "j";
  const ClusterModel cluster = model({live_node("n1", {2, 3, 4, 5}, "hgx-v100-8")}, {held});
  PodNeed of_job = need(2);
  of_job.job = "d/j";
  PodNeed alone = need(2);
  const auto beside = cluster.best(of_job);
  const auto single = cluster.best(alone);
  ASSERT_TRUE(beside && single);
  const std::vector<int> with_held = cluster.indices(0, beside->parts[0]);
  EXPECT_EQ(beside->gbps, cluster.gbps_with_job(0, with_held, "d/j"));
  EXPECT_NE(beside->gbps, cluster.gbps_with_job(0, with_held, ""));
  EXPECT_EQ(single->gbps, cluster.gbps_with_job(0, cluster.indices(0, single->parts[0]), ""));
}

TEST(Where, ChipsWithoutNetworkAreNotForJobsOfSeveralPods) {
  json node = live_node("n1", kAll);
  node["network_unhealthy"] = {0, 1, 2, 3, 4};
  const ClusterModel cluster = model({node});
  PodNeed four = need(4);
  EXPECT_TRUE(cluster.best(four));
  four.distributed = true;
  EXPECT_FALSE(cluster.best(four));
}

TEST(Where, TheResourceIsTheOneThatAllNodesOffer) {
  json both = live_node("n1", kAll);
  both["resources"] = {"aliyun.com/gpu", "nvidia.com/gpu"};
  EXPECT_EQ(*resource_for(model({both, live_node("n2", kAll)}), ""), "nvidia.com/gpu");
  json amd = live_node("n2", kAll);
  amd["resources"] = {"amd.com/gpu"};
  const ClusterModel mixed = model({live_node("n1", kAll), amd});
  EXPECT_EQ(*resource_for(mixed, "amd.com/gpu"), "amd.com/gpu");
  EXPECT_EQ(resource_for(mixed, "").error().text(),
            "--resource: required, because nodes offer several: amd.com/gpu, nvidia.com/gpu");
  EXPECT_THAT(resource_for(mixed, "nvidia.com/gpus").error().text(),
              HasSubstr("did you mean \"nvidia.com/gpu\"?"));
  EXPECT_FALSE(resource_for(model({}), ""));
}

TEST(Where, OnlyNamedNodesAreCandidates) {
  ClusterModel cluster = model({live_node("n1", kAll), live_node("n2", kAll)});
  ASSERT_TRUE(restrict_to_named(cluster, {"n2"}));
  EXPECT_THAT(names(cluster, find_places(cluster, need(1), 1).seats), ElementsAre("n2"));
  EXPECT_EQ(cluster.outlook(need(9)).summary().substr(0, 3), "0/1");
  EXPECT_EQ(restrict_to_named(cluster, {"n3"}).error().text(),
            "--node: unknown node \"n3\" (did you mean \"n1\" or \"n2\"?); known: those that "
            "'chipweave nodes' lists");
}

TEST(Where, AnswersAsTextAndJson) {
  const ClusterModel cluster = model({live_node("n1", {0, 1, 2}), live_node("n2", {5})});
  const Places places = find_places(cluster, need(2), 1);
  EXPECT_THAT(places_text(cluster, places, false),
              HasSubstr("\n1/2 nodes are available: 1 Insufficient nvidia.com/gpu\n"));
  const json answer = json::parse(places_json(cluster, places));
  EXPECT_EQ(answer["resource"], "nvidia.com/gpu");
  EXPECT_EQ(answer["fits"], true);
  EXPECT_EQ(answer["nodes"][0]["node"], "n1");
  EXPECT_EQ(answer["nodes"][0]["chips"].size(), 2U);
  EXPECT_EQ(answer["nodes"][0]["left"].size(), 1U);
  EXPECT_EQ(answer["rejected"][0]["nodes"], json({"n2"}));
  const json two = json::parse(places_json(cluster, find_places(cluster, need(2), 2)));
  EXPECT_EQ(two["fits"], false);
  EXPECT_EQ(two["placed"].size(), 1U);
  EXPECT_EQ(two["summary"], "0/2 nodes are available: 2 Insufficient nvidia.com/gpu");
}

TEST(Where, ASchedulerThatSendsNoTopologiesIsTooOld) {
  json old = live_node("n1", kAll);
  old.erase("topology");
  const auto made = ClusterModel::of(test::node_views({old}), {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::unsupported);
}

}  // namespace
}  // namespace chipweave::cli
