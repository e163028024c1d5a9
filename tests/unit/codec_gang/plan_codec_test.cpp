#include "common/codec/gang/plan_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPlanNetwork =
    R"("network":{"levels":["block","rack"],"nodes":[{"name":"x1","path":["b1","r1"],"free":8},)"
    R"({"name":"x2","path":["b1"],"free":6,"max_pods":3,"healthy":false,"rails":["l1"]}]})";

PlanLine parse_plan(const std::string& gang) {
  return parse_plan_line(std::string(R"({"id":"g1",)") + kPlanNetwork + R"(,"gang":)" + gang + "}");
}
std::string plan_codec_problem(const std::string& gang) {
  const PlanLine line = parse_plan(gang);
  return line.request ? "" : line.request.error().text();
}

TEST(PlanCodec, ReadsARequest) {
  const PlanLine line = parse_plan(
      R"({"pods":4,"chips_per_pod":2,"min_member":3,"required_level":"block",)"
      R"("slices":[{"level":"rack","size":2}],"policy":"compact","existing":{"b1/r1":2}})");
  ASSERT_TRUE(line.request) << line.request.error().text();
  EXPECT_EQ(line.id, "\"g1\"");
  const PlanRequest& r = *line.request;
  EXPECT_EQ(r.levels, (std::vector<std::string>{"block", "rack"}));
  ASSERT_EQ(r.nodes.size(), 2U);
  EXPECT_EQ(r.nodes[0].max_pods, -1);
  EXPECT_TRUE(r.nodes[0].healthy);
  EXPECT_EQ(r.nodes[1].max_pods, 3);
  EXPECT_FALSE(r.nodes[1].healthy);
  EXPECT_EQ(r.gang.pods, 4);
  EXPECT_EQ(r.gang.chips_per_pod, 2);
  EXPECT_EQ(r.gang.min_member, 3);
  EXPECT_EQ(r.gang.required_level, 0);
  EXPECT_EQ(r.gang.preferred_level, domain::kNoLevel);
  ASSERT_EQ(r.gang.slices.size(), 1U);
  EXPECT_EQ(r.gang.slices[0].level, 1);
  EXPECT_EQ(r.gang.existing.at(0).pods, 2);
}

TEST(PlanCodec, AllMustRunUnlessSaidOtherwise) {
  const PlanLine line = parse_plan(R"({"pods":4,"chips_per_pod":2,"existing":{"b1/r1":2}})");
  ASSERT_TRUE(line.request);
  EXPECT_EQ(line.request->gang.min_member, 6);
}

TEST(PlanCodec, WhatIsWrongIsNamed) {
  EXPECT_THAT(plan_codec_problem("7"), HasSubstr("gang"));
  EXPECT_THAT(plan_codec_problem(R"({"chips_per_pod":1})"), HasSubstr("gang.pods"));
  EXPECT_THAT(plan_codec_problem(R"({"pods":-1,"chips_per_pod":1})"), HasSubstr("gang.pods"));
  EXPECT_THAT(plan_codec_problem(R"({"pods":1,"chips_per_pod":1,"podz":2})"), HasSubstr("podz"));
  EXPECT_THAT(plan_codec_problem(R"({"pods":1,"chips_per_pod":1,"required_level":"rak"})"),
              HasSubstr("did you mean \"rack\""));
  EXPECT_THAT(plan_codec_problem(R"({"pods":1,"chips_per_pod":1,"required_level":"rack",)"
                                 R"("slices":[{"level":"block","size":2}]})"),
              HasSubstr("gang.slices[0].level"));
  EXPECT_THAT(plan_codec_problem(R"({"pods":1,"chips_per_pod":1,"slices":[{"level":"rack"}]})"),
              HasSubstr("gang.slices[0].size"));
  EXPECT_THAT(
      plan_codec_problem(R"({"pods":1,"chips_per_pod":1,"slices":[{"level":"rack","size":2},)"
                         R"({"level":"block","size":3}]})"),
      HasSubstr("size must divide "));
  EXPECT_THAT(plan_codec_problem(R"({"pods":1,"chips_per_pod":1,"existing":{"b9":1}})"),
              HasSubstr("unknown node path; known: \""));
  EXPECT_THAT(plan_codec_problem(R"({"pods":1,"chips_per_pod":1,"policy":"loose"})"),
              HasSubstr("gang.policy"));
}

TEST(PlanCodec, NetworksThatCannotBeAreRefused) {
  const auto of = [](const std::string& network) {
    const PlanLine line = parse_plan_line(R"({"id":1,"network":)" + network +
                                          R"(,"gang":{"pods":1,"chips_per_pod":1}})");
    return line.request ? "" : line.request.error().text();
  };
  EXPECT_EQ(of(R"({"levels":["a"],"nodes":[]})"), "");
  EXPECT_THAT(of(R"({"nodes":[]})"), HasSubstr("network.levels"));
  EXPECT_THAT(of(R"({"levels":[],"nodes":[]})"), HasSubstr("network.levels"));
  EXPECT_THAT(of(R"({"levels":["a","a"],"nodes":[]})"), HasSubstr("network.levels[1]"));
  EXPECT_THAT(of(R"({"levels":["a"]})"), HasSubstr("network.nodes"));
  EXPECT_THAT(of(R"({"levels":["a"],"nodes":[{"name":"x","path":["1","2"]}]})"),
              HasSubstr("network.nodes[0].path"));
  EXPECT_THAT(of(R"({"levels":["a"],"nodes":[{"name":"x"},{"name":"x"}]})"),
              HasSubstr("network.nodes[1].name"));
  EXPECT_THAT(of(R"({"levels":["a"],"nodes":[{"name":"x","free":-1}]})"),
              HasSubstr("network.nodes[0].free"));
}

TEST(PlanCodec, WritesAnAnswer) {
  const PlanLine line = parse_plan(R"({"pods":2,"chips_per_pod":1})");
  ASSERT_TRUE(line.request);
  const domain::Plan plan{true, {{0, 0, 0}, {1, 0, 1}}, {1, 1}, true, {}, ""};
  EXPECT_EQ(write_plan_answer(line.id, *line.request, plan),
            R"({"id":"g1","fits":true,"assignment":{"b1/r1":2},"pods":[)"
            R"({"pod":0,"node":"x1","path":["b1","r1"],"rank":0},)"
            R"({"pod":1,"node":"x1","path":["b1","r1"],"rank":1}],)"
            R"("domains":{"block":1,"rack":1},"placed":2,"optimal":true,"reason":""})");
}

TEST(PlanCodec, WritesBoundsAndDetails) {
  const PlanLine line = parse_plan(R"({"pods":1,"chips_per_pod":1})");
  ASSERT_TRUE(line.request);
  PlanRequest request = *line.request;
  request.nodes[0].machine = "hgx-v100-8";
  const domain::Plan plan{true, {{0, 0, 0}}, {1, 2}, false, {1, 1}, "a \"b\""};
  PlanDetails details;
  details.chips = {{3, 1}};
  details.rings = {{1, 3}};
  details.bandwidth = {{"gbps", 100000, ""}, {"limit", std::nullopt, "rails"}, {"rails", 20.6, ""}};
  details.leaves = {{"b1/r1", {domain::TorUse::shared, true, true}, 1}};
  EXPECT_EQ(write_plan_answer("7", request, plan, details),
            R"({"id":7,"fits":true,"assignment":{"b1/r1":1},"pods":[)"
            R"({"pod":0,"node":"x1","path":["b1","r1"],"rank":0,"chips":[3,1],"ring":[1,3]}],)"
            R"("domains":{"block":1,"rack":2},"placed":1,"optimal":false,)"
            R"("bound":{"block":1,"rack":1},"reason":"a \"b\"",)"
            R"("bandwidth":{"gbps":100000.0,"limit":"rails","rails":20.6},)"
            R"("leaves":[{"leaf":"b1/r1","pods":1,"state":"shared","healthy":true}]})");
}

}  // namespace
}  // namespace chipweave::codec
