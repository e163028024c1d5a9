#include "common/codec/gang/rank_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

using ::testing::HasSubstr;

std::string rank_codec_problem(const std::string& line) {
  const RankLine read = parse_rank_line(line);
  return read.request ? "" : read.request.error().text();
}

TEST(RankCodec, ReadsAndWrites) {
  const RankLine line = parse_rank_line(
      R"({"id":7,"levels":["spine","leaf"],"pods":[{"name":"p0","path":["s0","l1"]},{"name":"p1"}]})");
  ASSERT_TRUE(line.request) << line.request.error().text();
  EXPECT_EQ(line.request->names, (std::vector<std::string>{"p0", "p1"}));
  EXPECT_EQ(line.request->paths[1], std::vector<std::string>{});
  EXPECT_EQ(write_rank_answer(line.id, *line.request, {{1, 0}, {2, 2}, {0, 2}}),
            R"({"id":7,"order":["p1","p0"],"crossings":{"spine":2,"leaf":2},)"
            R"("input_crossings":{"spine":0,"leaf":2}})");
}

TEST(RankCodec, WhatIsWrongIsNamed) {
  EXPECT_THAT(rank_codec_problem(R"({"id":1,"levels":["a"]})"), HasSubstr("pods"));
  EXPECT_THAT(rank_codec_problem(R"({"id":1,"pods":[]})"), HasSubstr("levels"));
  EXPECT_THAT(rank_codec_problem(R"({"id":1,"levels":["a"],"pods":[{"path":["x"]}]})"),
              HasSubstr("pods[0].name"));
  EXPECT_THAT(
      rank_codec_problem(R"({"id":1,"levels":["a"],"pods":[{"name":"p","path":["x","y"]}]})"),
      HasSubstr("pods[0].path"));
  EXPECT_THAT(rank_codec_problem(R"({"id":1,"levels":["a"],"pods":[{"name":"p"},{"name":"p"}]})"),
              HasSubstr("pods[1].name"));
  EXPECT_THAT(rank_codec_problem(R"({"id":1,"levels":["a"],"pods":[{"name":"p","path":"x"}]})"),
              HasSubstr("pods[0].path"));
  EXPECT_THAT(rank_codec_problem("[]"), HasSubstr("object"));
}

// A request with these communicators.
std::string with_communicators(const std::string& communicators) {
  return R"({"id":1,"levels":["spine","leaf"],"pods":[{"name":"p0"},{"name":"p1"}],)"
         R"("communicators":)" +
         communicators + "}";
}

TEST(RankCodec, ReadsParallelSizes) {
  const RankLine line = parse_rank_line(
      with_communicators(R"({"tensor":8,"context":2,"expert":4,"pipeline":3,"ranks_per_pod":16,)"
                         R"("weights":{"data":7,"expert_data":0}})"));
  ASSERT_TRUE(line.request) << line.request.error().text();
  ASSERT_TRUE(line.request->communicators);
  const domain::Communicators& read = *line.request->communicators;
  EXPECT_TRUE(read.list.empty());
  EXPECT_EQ(read.ranks_per_pod, 16);
  EXPECT_EQ(read.sizes.tensor, 8);
  EXPECT_EQ(read.sizes.context, 2);
  EXPECT_EQ(read.sizes.expert, 4);
  EXPECT_EQ(read.sizes.data, 0);
  EXPECT_EQ(read.sizes.pipeline, 3);
  EXPECT_EQ(read.sizes.weights.data, 7);
  EXPECT_EQ(read.sizes.weights.expert_data, 0);
  EXPECT_EQ(read.sizes.weights.tensor, domain::ParallelWeights{}.tensor);
}

TEST(RankCodec, ReadsGroups) {
  const std::string groups = R"([{"name":"data","size":4,"stride":8,"weight":3},)"
                             R"({"name":"stage","size":2,"stride":1}])";
  for (const std::string& text : {groups, R"({"ranks_per_pod":1,"groups":)" + groups + "}"}) {
    const RankLine line = parse_rank_line(with_communicators(text));
    ASSERT_TRUE(line.request) << line.request.error().text();
    ASSERT_TRUE(line.request->communicators);
    const auto& list = line.request->communicators->list;
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0].name, "data");
    EXPECT_EQ(list[0].size, 4);
    EXPECT_EQ(list[0].stride, 8);
    EXPECT_EQ(list[0].weight, 3);
    EXPECT_EQ(list[1].weight, 1);
    EXPECT_EQ(line.request->communicators->ranks_per_pod, 1);
  }
}

TEST(RankCodec, WritesCostsBehindWhatIsThereWithoutThem) {
  const RankLine line = parse_rank_line(with_communicators("{}"));
  ASSERT_TRUE(line.request) << line.request.error().text();
  CommunicatorCosts costs;
  costs.weighted = 3;
  costs.depth_first_weighted = 4;
  costs.input_weighted = 5;
  costs.optimal = true;
  costs.names = {"data"};
  costs.crossings = {{0, 2}};
  EXPECT_EQ(write_rank_answer(line.id, *line.request, {{1, 0}, {2, 2}, {0, 2}, costs}),
            R"({"id":1,"order":["p1","p0"],"crossings":{"spine":2,"leaf":2},)"
            R"("input_crossings":{"spine":0,"leaf":2},"weighted":3,"depth_first_weighted":4,)"
            R"("input_weighted":5,"optimal":true,"communicators":{"data":{"spine":0,"leaf":2}}})");
}

TEST(RankCodec, WhatIsWrongWithCommunicatorsIsNamed) {
  const auto problem_of = [](const std::string& text) {
    return rank_codec_problem(with_communicators(text));
  };
  EXPECT_THAT(problem_of("3"), HasSubstr("communicators: expected an object, got 3"));
  EXPECT_THAT(problem_of(R"({"tensr":8})"), HasSubstr("unknown key \"tensr\""));
  EXPECT_THAT(problem_of(R"({"tensor":0})"), HasSubstr("communicators.tensor: must be 1 to"));
  EXPECT_THAT(problem_of(R"({"data":0})"), HasSubstr("communicators.data: must be 1 to"));
  EXPECT_THAT(problem_of(R"({"ranks_per_pod":1.5})"), HasSubstr("communicators.ranks_per_pod"));
  EXPECT_THAT(problem_of(R"({"pipeline":1000001})"), HasSubstr("communicators.pipeline"));
  EXPECT_THAT(problem_of(R"({"weights":{"ring":1}})"),
              HasSubstr("unknown key \"ring\" (communicators.weights)"));
  EXPECT_THAT(problem_of(R"({"weights":{"data":-1}})"), HasSubstr("communicators.weights.data"));
  EXPECT_THAT(problem_of("[]"), HasSubstr("communicators: must name at least one"));
  EXPECT_THAT(problem_of(R"({"groups":7})"), HasSubstr("communicators.groups: must be a list"));
  EXPECT_THAT(problem_of(R"({"groups":[{"size":2,"stride":1}]})"),
              HasSubstr("communicators.groups[0].name"));
  EXPECT_THAT(problem_of(R"([{"name":"a","stride":1}])"), HasSubstr("communicators[0].size"));
  EXPECT_THAT(problem_of(R"([{"name":"a","size":1,"stride":1},{"name":"a","size":1,"stride":1}])"),
              HasSubstr("communicators[1].name: names a communicator for the second time"));
  EXPECT_THAT(problem_of(R"({"tensor":2,"groups":[{"name":"a","size":2,"stride":1}]})"),
              HasSubstr("communicators.tensor: cannot be combined with groups"));
  EXPECT_THAT(problem_of(R"({"weights":{},"groups":[{"name":"a","size":2,"stride":1}]})"),
              HasSubstr("communicators.weights: cannot be combined with groups"));
  std::string many = R"([{"name":"c","size":1,"stride":1})";
  for (int i = 0; i < 16; ++i)
    many += R"(,{"name":"c)" + std::to_string(i) + R"(","size":1,"stride":1})";
  EXPECT_THAT(problem_of(many + "]"), HasSubstr("17 entries, at most 16"));
}

}  // namespace
}  // namespace chipweave::codec
