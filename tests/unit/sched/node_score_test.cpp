#include "common/solver/nodes/node_score.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "common/base/natural_order.hpp"

namespace chipweave::solver {
namespace {

constexpr double kTolerance = 0.05;

ScoreInput input(double gbps, double unusable, double machine_gbps, int left_over,
                 std::uint32_t order) {
  return {gbps, unusable, machine_gbps, left_over, order, 4, 0};
}

// Whether a comes before b if there are only these two.
bool better(const ScoreInput& a, const ScoreInput& b, double tolerance = kTolerance) {
  const std::vector<ScoreInput> both{a, b};
  return NodeOrder(both, tolerance).better(a, b);
}

TEST(NodeScore, FasterBeatsLossBeatsTighterBeatsName) {
  EXPECT_TRUE(better(input(40, 7, 40, 9, 9), input(20, 0, 20, 0, 0)));
  EXPECT_TRUE(better(input(40, 1, 40, 9, 9), input(40, 2, 40, 0, 0)));
  EXPECT_TRUE(better(input(40, 1, 40, 1, 9), input(40, 1, 40, 2, 0)));
  EXPECT_TRUE(better(input(40, 1, 40, 1, 0), input(40, 1, 40, 1, 1)));
  EXPECT_FALSE(better(input(40, 1, 40, 1, 1), input(40, 1, 40, 1, 1)));
}

TEST(NodeScore, NearerIsBetterThanLessLostAndWorseThanFaster) {
  ScoreInput far = input(40, 0, 40, 0, 0);
  far.far = 1;
  EXPECT_TRUE(better(input(40, 7, 40, 9, 9), far));
  EXPECT_TRUE(better(far, input(20, 0, 20, 0, 0)));
  ScoreInput farther = far;
  farther.far = 2;
  const std::vector<ScoreInput> all{input(40, 0, 40, 0, 0), input(40, 0, 40, 0, 1), far, farther};
  const NodeScores scores = score_nodes(all, NodeOrder(all, kTolerance));
  EXPECT_EQ(scores.best, 0U);
  EXPECT_GT(scores.levels[1], scores.levels[2]);
  EXPECT_GT(scores.levels[2], scores.levels[3]);
}

TEST(NodeScore, WithinTheToleranceWhatIsLeftForOthersDecides) {
  const ScoreInput fast = input(100, 2, 100, 0, 0);
  EXPECT_TRUE(better(input(95, 1, 100, 0, 1), fast));
  EXPECT_FALSE(better(input(94, 1, 100, 0, 1), fast));
  EXPECT_TRUE(better(input(94, 1, 100, 0, 1), fast, 0.1));
  EXPECT_FALSE(better(input(99, 1, 100, 0, 1), fast, 0));
}

TEST(NodeScore, AFastMachineCountsAsMuchAsItsFastChips) {
  const ScoreInput slow = input(0, 3.5, 20, 1, 1);
  EXPECT_TRUE(better(slow, input(0, 0, 370, 0, 0)));  // a pod of one chip keeps off the fabric
  EXPECT_FALSE(better(input(0, 4.5, 20, 1, 1), input(0, 0, 370, 0, 0)));
}

TEST(NodeScore, EqualWithinToleranceIsJudgedFromTheFastestSoThatTheOrderIsTransitive) {
  // 100 and 96 are equal, 96 and 92 are not, though they differ by less than 5 %.
  const std::vector<ScoreInput> in{input(100, 3, 1, 0, 0), input(96, 2, 1, 0, 1),
                                   input(92, 1, 1, 0, 2)};
  const NodeOrder order(in, kTolerance);
  EXPECT_TRUE(order.better(in[1], in[0]));
  EXPECT_TRUE(order.better(in[1], in[2]));
  EXPECT_TRUE(order.better(in[0], in[2]));
}

TEST(NodeScore, CeilingFollowsSizeAndNeed) {
  NodePreference preference;
  preference.useful_gbps_per_peer = 50;
  EXPECT_DOUBLE_EQ(preference.ceiling(2, false, 0), 50);
  EXPECT_DOUBLE_EQ(preference.ceiling(4, false, 0), 150);
  EXPECT_EQ(preference.ceiling(8, false, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(preference.ceiling(2, true, 0), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(preference.ceiling(8, true, 120), 120);
  preference.useful_gbps_per_peer = 0;
  EXPECT_EQ(preference.ceiling(2, false, 0), std::numeric_limits<double>::infinity());
}

TEST(NodeScore, BandwidthAboveTheCeilingIsNoReason) {
  NodeOffer fast;
  fast.gbps = fast.machine_gbps = 370;
  fast.left_over = 6;
  fast.unusable = 1.5;
  fast.fast_chips = 4;
  NodeOffer slower = fast;
  slower.gbps = slower.machine_gbps = 60;
  const ScoreInput a = score_input(fast, 50, 0);
  const ScoreInput b = score_input(slower, 50, 1);
  EXPECT_DOUBLE_EQ(a.gbps, 50);
  EXPECT_DOUBLE_EQ(b.gbps, 50);
  EXPECT_DOUBLE_EQ(a.unusable, 1.5);
  EXPECT_TRUE(better(b, a));
}

TEST(NodeScore, LevelsStayInRangeAndFollowTheOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<ScoreInput> in;
    const auto n = static_cast<unsigned>(1 + random() % 12);
    for (unsigned i = 0; i < n; ++i) {
      in.push_back(
          input(static_cast<double>(random() % 60) * 4.5, static_cast<double>(random() % 9) / 4 - 1,
                static_cast<double>(random() % 3) * 100, static_cast<int>(random() % 9), i));
    }
    const NodeOrder order(in, kTolerance);
    const NodeScores s = score_nodes(in, order);
    EXPECT_EQ(s.best, best_node(in, order));
    for (unsigned i = 0; i < n; ++i) {
      EXPECT_GE(s.levels[i], 0);
      EXPECT_LE(s.levels[i], 9);
      EXPECT_FALSE(order.better(in[i], in[s.best]));
      for (unsigned j = 0; j < n; ++j) {
        if (!order.better(in[i], in[j])) continue;
        EXPECT_FALSE(order.better(in[j], in[i]));
        EXPECT_GE(s.levels[i], s.levels[j]);
        for (unsigned k = 0; k < n; ++k) {
          if (order.better(in[j], in[k])) {
            EXPECT_TRUE(order.better(in[i], in[k]));
          }
        }
      }
    }
  }
}

TEST(NodeScore, SharesOfTheBestAreComparableAcrossMachineKinds) {
  const std::vector<ScoreInput> in{input(400, 1, 1, 4, 0), input(200, 1, 1, 4, 1),
                                   input(10, 1, 1, 4, 2)};
  const NodeScores s = score_nodes(in, NodeOrder(in, kTolerance));
  EXPECT_EQ(s.best, 0U);
  EXPECT_EQ(s.levels[1], 5);
  EXPECT_EQ(s.levels[2], 1);
}

TEST(NodeScore, WithoutBandwidthWhatOthersLoseHasTheWholeRange) {
  const std::vector<ScoreInput> in{input(0, -1, 1, 0, 3), input(0, 2, 1, 7, 0)};
  const NodeScores s = score_nodes(in, NodeOrder(in, kTolerance));
  EXPECT_EQ(s.best, 0U);
  EXPECT_EQ(s.levels[0], 9);
  EXPECT_EQ(s.levels[1], 0);
}

TEST(NodeScore, PodsWithoutChipsKeepOffFreeChips) {
  EXPECT_EQ(level_without_chips(0), 9);
  EXPECT_EQ(level_without_chips(8), 1);
  EXPECT_EQ(level_without_chips(64), 0);
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
