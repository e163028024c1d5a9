// Batch lines of `chipweave defrag`: what is read, what is refused by which key, what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/codec/gang/defrag_codec.hpp"

namespace chipweave::codec {
namespace {

using testing::HasSubstr;

const std::string kTwoRacks =
    R"("network":{"levels":["block","rack"],"nodes":[{"name":"x1","path":["b1","r1"],"free":6},)"
    R"({"name":"x2","path":["b1","r2"],"free":4}]})";

std::string with_pods(const std::string& pods, const std::string& more = "") {
  return R"({"id":"a",)" + kTwoRacks + R"(,"pods":[)" + pods + "]" + more + "}";
}

std::string refusal(const std::string& line) {
  const DefragLine parsed = parse_defrag_line(line);
  return parsed.request ? "" : parsed.request.error().text();
}

TEST(DefragCodec, ReadsAllKeys) {
  const DefragLine line = parse_defrag_line(with_pods(
      R"({"name":"p","node":"x1","chips":2,"movable":true,"gang":"g","keep_level":"block"},)"
      R"({"name":"q","node":"x2","chips":[3,1],"gang":"g"},{"name":"r","node":"x2","chips":1})",
      R"(,"target":{"level":"rack","domains":2,"max_moves":5},"gang":{"pods":1,"chips_per_pod":8})"));
  ASSERT_TRUE(line.request.ok()) << line.request.error().text();
  EXPECT_EQ(line.id, "\"a\"");
  const DefragLineRequest& request = *line.request;
  EXPECT_EQ(request.nodes, 2U);
  ASSERT_EQ(request.pods.size(), 3U);
  EXPECT_EQ(request.pods[0].name, "p");
  EXPECT_EQ(request.pods[0].node, 0U);
  EXPECT_EQ(request.pods[0].chips, 2);
  EXPECT_TRUE(request.pods[0].movable);
  EXPECT_EQ(request.pods[0].keep_level, 0);
  EXPECT_EQ(request.pods[1].chips, 2);
  EXPECT_EQ(*request.pods[1].indices, (std::vector<int>{3, 1}));
  EXPECT_FALSE(request.pods[1].movable);
  EXPECT_EQ(request.pods[1].keep_level, 0) << "that of its gang";
  EXPECT_EQ(request.pods[2].keep_level, domain::kNoLevel);
  EXPECT_EQ(request.level, 1);
  EXPECT_EQ(request.domains, 2);
  EXPECT_EQ(request.max_moves, 5);
  EXPECT_TRUE(request.has_gang);
  EXPECT_EQ(request.network.gang.chips_per_pod, 8);
}

TEST(DefragCodec, TheTargetIsWholeNodesUnlessItIsGiven) {
  const DefragLine line = parse_defrag_line(with_pods(""));
  ASSERT_TRUE(line.request.ok());
  EXPECT_EQ(line.request->level, domain::kNoLevel);
  EXPECT_FALSE(line.request->domains.has_value());
  EXPECT_FALSE(line.request->max_moves.has_value());
  EXPECT_FALSE(line.request->has_gang);
}

TEST(DefragCodec, RefusesByKey) {
  const auto pod = [](const std::string& keys) {
    return refusal(with_pods(R"({"name":"p","node":"x1","chips":1},{)" + keys + "}"));
  };
  EXPECT_THAT(pod(R"("node":"x1","chips":1)"), HasSubstr("pods[1].name"));
  EXPECT_THAT(pod(R"("name":"","node":"x1","chips":1)"), HasSubstr("pods[1].name"));
  EXPECT_THAT(pod(R"("name":"p","node":"x1","chips":1)"),
              HasSubstr("pods[1].name: names a pod for the second time"));
  EXPECT_THAT(pod(R"("name":"q","chips":1)"), HasSubstr("pods[1].node"));
  EXPECT_THAT(pod(R"("name":"q","node":"x9","chips":1)"),
              HasSubstr(R"(pods[1].node: unknown node "x9")"));
  EXPECT_THAT(pod(R"("name":"q","node":"x1")"), HasSubstr("pods[1].chips"));
  EXPECT_THAT(pod(R"("name":"q","node":"x1","chips":0)"), HasSubstr("pods[1].chips"));
  EXPECT_THAT(pod(R"("name":"q","node":"x1","chips":[])"), HasSubstr("pods[1].chips"));
  EXPECT_THAT(pod(R"("name":"q","node":"x1","chips":[1,1])"), HasSubstr("pods[1].chips[1]"));
  EXPECT_THAT(pod(R"("name":"q","node":"x1","chips":"2")"), HasSubstr("pods[1].chips"));
  EXPECT_THAT(pod(R"("name":"q","node":"x1","chips":1,"movable":1)"), HasSubstr("pods[1].movable"));
  EXPECT_THAT(pod(R"("name":"q","node":"x1","chips":1,"keep_level":"zone")"),
              HasSubstr("pods[1].keep_level"));
  EXPECT_THAT(pod(R"("name":"q","node":"x1","chips":1,"rank":1)"), HasSubstr("rank"));
  EXPECT_THAT(refusal(with_pods("", R"(,"target":{"level":"zone"})")), HasSubstr("target.level"));
  EXPECT_THAT(refusal(with_pods("", R"(,"target":{"domains":0})")), HasSubstr("target.domains"));
  EXPECT_THAT(refusal(with_pods("", R"(,"target":{"max_moves":0})")),
              HasSubstr("target.max_moves"));
  EXPECT_THAT(refusal(with_pods("", R"(,"target":{"nodes":1})")), HasSubstr("nodes"));
  EXPECT_THAT(refusal(with_pods("", R"(,"target":3)")), HasSubstr("target"));
  EXPECT_THAT(refusal(with_pods("", R"(,"gang":{"pods":1})")), HasSubstr("gang.chips_per_pod"));
  EXPECT_THAT(refusal("{" + kTwoRacks + "}"), HasSubstr("pods"));
  EXPECT_THAT(refusal(R"({"pods":[]})"), HasSubstr("network"));
  EXPECT_THAT(refusal(R"({"network":{"levels":["r"],"nodes":[]},"pods":[]})"),
              HasSubstr("network"));
}

TEST(DefragCodec, PodsOfOneGangKeepToOneLevel) {
  EXPECT_THAT(
      refusal(with_pods(R"({"name":"p","node":"x1","chips":1,"gang":"g","keep_level":"block"},)"
                        R"({"name":"q","node":"x1","chips":1,"gang":"g","keep_level":"rack"})")),
      HasSubstr("pods[1].keep_level: differs from that of another pod of the gang"));
}

TEST(DefragCodec, PodsOnMachinesListTheirChips) {
  EXPECT_THAT(
      refusal(R"({"network":{"levels":["r"],"nodes":[{"name":"x","machine":"hgx-h100-8"}]},)"
              R"("pods":[{"name":"p","node":"x","chips":2}]})"),
      HasSubstr("pods[0].chips: must list the indices"));
}

// Super-pods that cross the racks: moves know one of both.
TEST(DefragCodec, HierarchiesThatDoNotNest) {
  const auto line = [](const std::string& keep, const std::string& target) {
    return refusal(R"({"network":{"levels":["rack"],"accelerator_levels":["pod"],"nodes":[)"
                   R"({"name":"x1","path":["r1"],"accelerator":["s1"],"free":2},)"
                   R"({"name":"x2","path":["r1"],"accelerator":["s2"],"free":2},)"
                   R"({"name":"x3","path":["r2"],"accelerator":["s1"],"free":2}]},"pods":[)"
                   R"({"name":"p","node":"x1","chips":2,"keep_level":")" +
                   keep + R"("}],"target":{"level":")" + target + R"("}})");
  };
  EXPECT_EQ(line("rack", "rack"), "");
  EXPECT_EQ(line("pod", "pod"), "");
  EXPECT_THAT(line("pod", "rack"), HasSubstr("do not nest"));
  EXPECT_THAT(line("rack", "pod"), HasSubstr("do not nest"));
}

TEST(DefragCodec, TooManyPodsAreRefused) {
  std::string pods;
  for (int i = 0; i <= 100'000; ++i) {
    pods += i == 0 ? "" : ",";
    pods += R"({"name":"p)" + std::to_string(i) + R"(","node":"x1","chips":1})";
  }
  EXPECT_THAT(refusal(with_pods(pods)), HasSubstr("pods"));
}

TEST(DefragCodec, WritesTheAnswer) {
  const DefragLine line =
      parse_defrag_line(with_pods(R"({"name":"p","node":"x1","chips":2,"movable":true,"gang":"g"},)"
                                  R"({"name":"q","node":"x1","chips":[4,5],"movable":true})"));
  ASSERT_TRUE(line.request.ok());
  DefragAnswer answer;
  answer.freed.push_back({{"b1", "r1"}, {0}});
  answer.used_up.push_back({{"b1", "r2"}, {1}});
  answer.free_before = 1;
  answer.free_after = 2;
  answer.moves.push_back({.pod = 0, .from = 0, .to = 1, .step = 1});
  MoveEntry& second = answer.moves.emplace_back();
  second.pod = 1;
  second.to = 1;
  second.chips = {0, 1};
  second.gbps_before = 10;
  second.gbps_after = 20.5;
  second.step = 2;
  second.stop_first = true;
  answer.chips_moved = 4;
  answer.gangs = {"g"};
  answer.optimal = false;
  answer.bound_domains = 3;
  answer.bound_chips = 2;
  answer.whole_node_chips = 8;
  answer.whole_nodes_before = {0, 0};
  answer.whole_nodes_after = {1, 1};
  answer.gang_before = PlanOutcome{.reason = "no room"};
  answer.gang_after = PlanOutcome{true, 1, 1, {1, 1}, 40.0, ""};
  EXPECT_EQ(
      write_defrag_answer(line.id, *line.request, answer),
      R"({"id":"a","frees":true,"freed":[{"path":["b1","r1"],"nodes":["x1"]}],)"
      R"("used_up":[{"path":["b1","r2"],"nodes":["x2"]}],"moves":[)"
      R"({"pod":"p","from":"x1","to":"x2","chips":2,"step":1},)"
      R"({"pod":"q","from":"x1","to":"x2","chips":[0,1],"gbps_before":10.0,"gbps_after":20.5,)"
      R"("step":2,"stop_first":true}],"pods_moved":2,"chips_moved":4,"gangs":["g"],)"
      R"("optimal":false,"bound":{"domains":3,"chips":2},"reason":"","gain":{"free_before":1,)"
      R"("free_after":2,"whole_node_chips":8,"whole_nodes_before":{"block":0,"rack":0},)"
      R"("whole_nodes_after":{"block":1,"rack":1},)"
      R"("gang_before":{"fits":false,"placed":0,"domains":{},"reason":"no room"},)"
      R"("gang_after":{"fits":true,"placed":1,"domains":{"block":1,"rack":1},"gbps":40.0,)"
      R"("reason":""}}})");
}

}  // namespace
}  // namespace chipweave::codec
