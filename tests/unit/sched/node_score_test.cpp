#include "common/solver/chips/node_score.hpp"

#include <gtest/gtest.h>

#include <random>

#include "common/base/natural_order.hpp"

namespace chipweave::solver {
namespace {

TEST(NodeScore, FasterBeatsTighterBeatsName) {
  EXPECT_TRUE(better_node({40, 7, 9}, {20, 0, 0}));
  EXPECT_TRUE(better_node({40, 1, 9}, {40, 2, 0}));
  EXPECT_TRUE(better_node({40, 1, 0}, {40, 1, 1}));
  EXPECT_FALSE(better_node({40, 1, 1}, {40, 1, 1}));
}

TEST(NodeScore, LevelsStayInRangeAndFollowTheOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ScoreInput> in;
    const auto n = static_cast<unsigned>(1 + random() % 12);
    for (unsigned i = 0; i < n; ++i) {
      in.push_back({static_cast<double>(random() % 5) * 37.5, static_cast<int>(random() % 9), i});
    }
    const NodeScores s = score_nodes(in);
    for (unsigned i = 0; i < n; ++i) {
      EXPECT_GE(s.levels[i], 0);
      EXPECT_LE(s.levels[i], 9);
      EXPECT_FALSE(better_node(in[i], in[s.best]));
      for (unsigned j = 0; j < n; ++j) {
        if (better_node(in[i], in[j])) {
          EXPECT_GE(s.levels[i], s.levels[j]);
        }
      }
    }
  }
}

TEST(NodeScore, SharesOfTheBestAreComparableAcrossMachineKinds) {
  const std::vector<ScoreInput> in{{400, 4, 0}, {200, 4, 1}, {10, 4, 2}};
  const NodeScores s = score_nodes(in);
  EXPECT_EQ(s.best, 0U);
  EXPECT_EQ(s.levels[1], 4);
  EXPECT_EQ(s.levels[2], 0);
}

TEST(NodeScore, WithoutBandwidthPackingHasTheWholeRange) {
  const std::vector<ScoreInput> in{{0, 0, 3}, {0, 7, 0}};
  const NodeScores s = score_nodes(in);
  EXPECT_EQ(s.best, 0U);
  EXPECT_EQ(s.levels[0], 9);
  EXPECT_EQ(s.levels[1], 0);
}

TEST(NaturalOrder, ComparesRunsOfDigitsAsNumbers) {
  using chipweave::natural_less;
  EXPECT_TRUE(natural_less("n2", "n10"));
  EXPECT_FALSE(natural_less("n10", "n2"));
  EXPECT_TRUE(natural_less("a1b2", "a1b10"));
  EXPECT_TRUE(natural_less("n", "n1"));
  EXPECT_TRUE(natural_less("n01", "n1") != natural_less("n1", "n01"));
  EXPECT_FALSE(natural_less("x", "x"));
}

}  // namespace
}  // namespace chipweave::solver
