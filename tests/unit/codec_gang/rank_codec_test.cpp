#include "common/codec/gang/rank_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

using ::testing::HasSubstr;

std::string problem(const std::string& line) {
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
  EXPECT_THAT(problem(R"({"id":1,"levels":["a"]})"), HasSubstr("pods"));
  EXPECT_THAT(problem(R"({"id":1,"pods":[]})"), HasSubstr("levels"));
  EXPECT_THAT(problem(R"({"id":1,"levels":["a"],"pods":[{"path":["x"]}]})"),
              HasSubstr("pods[0].name"));
  EXPECT_THAT(problem(R"({"id":1,"levels":["a"],"pods":[{"name":"p","path":["x","y"]}]})"),
              HasSubstr("pods[0].path"));
  EXPECT_THAT(problem(R"({"id":1,"levels":["a"],"pods":[{"name":"p"},{"name":"p"}]})"),
              HasSubstr("pods[1].name"));
  EXPECT_THAT(problem(R"({"id":1,"levels":["a"],"pods":[{"name":"p","path":"x"}]})"),
              HasSubstr("pods[0].path"));
  EXPECT_THAT(problem("[]"), HasSubstr("object"));
}

}  // namespace
}  // namespace chipweave::codec
