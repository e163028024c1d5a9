// The parts of a plan request beyond a plain gang: sets, repair, chosen nodes, machines, the
// accelerators' own levels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlanLine parse_gang(const std::string& network, const std::string& gang) {
  return parse_plan_line(R"({"id":1,"network":)" + network + R"(,"gang":)" + gang + "}");
}
constexpr const char* kNetwork =
    R"({"levels":["rack"],"nodes":[{"name":"a","path":["r1"],"free":4},)"
    R"({"name":"b","path":["r2"],"free":4}]})";
domain::Gang gang(const std::string& text) {
  const PlanLine line = parse_gang(kNetwork, text);
  EXPECT_TRUE(line.request) << line.request.error().text();
  return line.request ? line.request->gang : domain::Gang{};
}
std::string gang_reader_problem(const std::string& text, const std::string& network = kNetwork) {
  const PlanLine line = parse_gang(network, text);
  return line.request ? "" : line.request.error().text();
}

TEST(GangReader, RunningPodsMayHaveRanksNumbersAndChips) {
  const domain::Gang read =
      gang(R"({"pods":3,"chips_per_pod":1,"failed_nodes":["r2"],"existing":{)"
           R"("r1":{"ranks":[2,0],"numbers":[0,1],"chips":[6,7]},"r2":{"pods":1}}})");
  EXPECT_THAT(read.existing.at(0).ranks, ElementsAre(2, 0));
  EXPECT_THAT(read.existing.at(0).numbers, ElementsAre(0, 1));
  EXPECT_THAT(read.existing.at(0).chips, ElementsAre(6, 7));
  EXPECT_EQ(read.existing.at(0).pods, 2);
  EXPECT_EQ(read.existing.at(1).pods, 1);
  EXPECT_EQ(read.size(), 3);
  const auto wrong = [](const std::string& existing) {
    return gang_reader_problem(R"({"pods":1,"chips_per_pod":1,"existing":)" + existing + "}");
  };
  EXPECT_THAT(wrong(R"({"r1":{"chips":[0]}})"), HasSubstr("gang.existing.r1.pods: is missing"));
  EXPECT_THAT(wrong(R"({"r1":{"ranks":[0],"pods":2}})"), HasSubstr("there are 1 ranks"));
  EXPECT_THAT(wrong(R"({"r1":{"ranks":[0,1],"numbers":[3]}})"), HasSubstr("one pod for each"));
  EXPECT_THAT(wrong(R"({"r1":{"ranks":[0],"numbers":[3]},"r2":[3]})"), HasSubstr("has pod 3"));
  EXPECT_THAT(wrong(R"({"r1":{"pods":1,"chips":[4,4]}})"), HasSubstr("names a chip"));
}

TEST(GangReader, SubgroupsListTheRanksOfTheGang) {
  const domain::Gang read = gang(R"({"chips_per_pod":1,"failed_nodes":["r2"],"subgroups":[)"
                                 R"({"name":"a","pods":2,"existing":{"r1":[2],"r2":[1]}},)"
                                 R"({"name":"b","pods":1,"existing":{"r1":[0]}}]})");
  EXPECT_THAT(read.existing.at(0).ranks, ElementsAre(2, 0));
  EXPECT_THAT(read.existing.at(1).ranks, ElementsAre(1));
  EXPECT_EQ(read.sets[0].own_min, 2) << "the pods of a repair are those that ran";
}

TEST(GangReader, ARepairMayAllowNodesThatLeftTheNetwork) {
  EXPECT_THAT(gang(R"({"pods":1,"chips_per_pod":1,"existing":{"r1":1},"failed_nodes":["r1"],)"
                   R"("allowed_nodes":{"0":["gone","b"]}})")
                  .allowed.at(0),
              ElementsAre(1));
  EXPECT_THAT(
      gang_reader_problem(R"({"pods":1,"chips_per_pod":1,"allowed_nodes":{"0":["gone","b"]}})"),
      HasSubstr("unknown node"));
}

TEST(GangReader, RolesHaveTheirOwnChipsAndSumUp) {
  const domain::Gang read = gang(
      R"({"roles":[{"name":"l","pods":1,"chips_per_pod":2,"together":"t"},)"
      R"({"name":"w","pods":3,"together":"t","slices":[{"level":"rack","size":3}]}],"chips_per_pod":4})");
  EXPECT_EQ(read.pods, 4);
  EXPECT_TRUE(read.roles);
  ASSERT_EQ(read.sets.size(), 2U);
  EXPECT_EQ(read.sets[0].chips_per_pod, 2);
  EXPECT_EQ(read.sets[1].chips_per_pod, 4);
  EXPECT_EQ(read.sets[1].slices.size(), 1U);
  EXPECT_EQ(read.min_member, 4);
}

TEST(GangReader, ASubgroupNeedsAllOfItsOwnPodsUnlessItSays) {
  const domain::Gang read =
      gang(R"({"chips_per_pod":1,"subgroups":[{"name":"p","pods":1},)"
           R"({"name":"c","pods":3,"parent":"p","min_member":2,"set":"s","existing":{"r1":2}}],)"
           R"("min_sets":{"s":1}})");
  ASSERT_EQ(read.sets.size(), 2U);
  EXPECT_EQ(read.sets[0].own_min, 1);
  EXPECT_EQ(read.sets[1].own_min, 2);
  EXPECT_EQ(read.sets[1].parent, 0);
  EXPECT_EQ(read.existing.at(0).pods, 2) << "the gang's include the subgroups'";
  EXPECT_EQ(read.min_member, 6);
  EXPECT_EQ(read.min_sets.at("s"), 1);
}

TEST(GangReader, ARepairKnowsNodesThatLeft) {
  const PlanLine line =
      parse_gang(kNetwork, R"({"pods":2,"chips_per_pod":1,"existing":{"r1":[1],"r9":[0]},)"
                           R"("failed_nodes":["r9"]})");
  ASSERT_TRUE(line.request) << line.request.error().text();
  ASSERT_EQ(line.request->nodes.size(), 3U);
  EXPECT_FALSE(line.request->nodes[2].healthy);
  EXPECT_THAT(line.request->gang.existing.at(2).ranks, ElementsAre(0));
  EXPECT_EQ(line.request->gang.min_member, 2) << "the pods that ran";
}

TEST(GangReader, WhatIsWrongIsNamed) {
  EXPECT_THAT(
      gang_reader_problem(R"({"roles":[{"name":"a","pods":1}],"subgroups":[{"name":"b","pods":1}],)"
                          R"("chips_per_pod":1})"),
      HasSubstr("gang.roles"));
  EXPECT_THAT(
      gang_reader_problem(R"({"pods":3,"roles":[{"name":"a","pods":1,"chips_per_pod":1}]})"),
      HasSubstr("gang.pods"));
  EXPECT_THAT(
      gang_reader_problem(R"({"chips_per_pod":1,"subgroups":[{"name":"a","pods":1,"parent":"b"},)"
                          R"({"name":"b","pods":1,"parent":"a"}]})"),
      HasSubstr("gang.subgroups[0].parent"));
  EXPECT_THAT(gang_reader_problem(R"({"chips_per_pod":1,"subgroups":[{"name":"a","pods":1},)"
                                  R"({"name":"a","pods":1}]})"),
              HasSubstr("gang.subgroups[1].name"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":2,"pod_chips":[1]})"), HasSubstr("gang.pod_chips"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":1,"chips_per_pod":1,"allowed_nodes":{"1":["a"]}})"),
              HasSubstr("gang.allowed_nodes.1"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":1,"chips_per_pod":1,"allowed_nodes":{"0":["z"]}})"),
              HasSubstr("unknown node"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":1,"chips_per_pod":1,"keep_spare":{"level":"rack"}})"),
              HasSubstr("gang.keep_spare.nodes"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":1,"chips_per_pod":1,"min_sets":{"x":1}})"),
              HasSubstr("gang.min_sets.x"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":1,"chips_per_pod":1,"existing":{"r1":[0,0]}})"),
              HasSubstr("gang.existing.r1[1]"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":1,"chips_per_pod":1,"failed_nodes":["r1/x/y"]})"),
              HasSubstr("gang.failed_nodes[0]"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":1,"chips_per_pod":1})",
                                  R"({"levels":["rack"],"nodes":[{"name":"a","free_chips":[0]}]})"),
              HasSubstr("network.nodes[0].free_chips"));
  EXPECT_THAT(gang_reader_problem(R"({"pods":1,"chips_per_pod":1})",
                                  R"({"levels":["rack"],"level_gbps":{"rak":1},"nodes":[]})"),
              HasSubstr("network.level_gbps.rak"));
}

TEST(CombinedLevels, AcceleratorsThatNestAreLevelsOfTheTree) {
  const PlanLine line =
      parse_gang(R"({"levels":["spine","host"],"accelerator_levels":["nvl"],"nodes":[)"
                 R"({"name":"a","path":["s1","a"],"accelerator":["n1"],"free":1},)"
                 R"({"name":"b","path":["s1","b"],"accelerator":["n1"],"free":1},)"
                 R"({"name":"d","path":["s1","d"],"accelerator":["n2"],"free":1},)"
                 R"({"name":"c","path":["s2","c"],"free":1}]})",
                 R"({"pods":1,"chips_per_pod":1,"required_level":"nvl"})");
  ASSERT_TRUE(line.request) << line.request.error().text();
  EXPECT_TRUE(line.request->nested);
  EXPECT_THAT(line.request->levels, ElementsAre("spine", "nvl", "host"));
  EXPECT_THAT(line.request->nodes[0].place, ElementsAre("s1", "n1", "a"));
  EXPECT_THAT(line.request->nodes[3].place, ElementsAre("s2", "", "c"));
  EXPECT_EQ(line.request->gang.required_level, 1);
}

TEST(CombinedLevels, ANetworkMayHaveNoOthers) {
  const PlanLine line = parse_gang(R"({"levels":[],"accelerator_levels":["domain"],"nodes":[)"
                                   R"({"name":"a","path":[],"accelerator":["d1"],"free":4}]})",
                                   R"({"pods":1,"chips_per_pod":1,"required_level":"domain"})");
  ASSERT_TRUE(line.request) << line.request.error().text();
  EXPECT_THAT(line.request->levels, ElementsAre("domain"));
  EXPECT_THAT(line.request->nodes[0].place, ElementsAre("d1"));
}

TEST(CombinedLevels, ThoseThatCrossComeFirstIfTheyAreAskedFor) {
  const std::string network =
      R"({"levels":["leaf"],"accelerator_levels":["pod"],"nodes":[)"
      R"({"name":"a","path":["l1"],"accelerator":["p1"]},{"name":"b","path":["l1"],"accelerator":["p2"]},)"
      R"({"name":"c","path":["l2"],"accelerator":["p1"]},{"name":"d","path":["l2"],"accelerator":["p2"]}]})";
  const PlanLine plain = parse_gang(network, R"({"pods":1,"chips_per_pod":0})");
  ASSERT_TRUE(plain.request);
  EXPECT_THAT(plain.request->levels, ElementsAre("leaf"));
  const PlanLine asked =
      parse_gang(network, R"({"pods":1,"chips_per_pod":0,"required_level":"pod"})");
  ASSERT_TRUE(asked.request) << asked.request.error().text();
  EXPECT_THAT(asked.request->levels, ElementsAre("pod", "leaf"));
  EXPECT_FALSE(asked.request->nested);
}

}  // namespace
}  // namespace chipweave::codec
