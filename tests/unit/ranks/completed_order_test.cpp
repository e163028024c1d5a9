// Pods that take the ranks which others left, against every way to do that.
#include "common/solver/ranks/completed_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace chipweave::solver::completed_order_test {
namespace {

using Fixed = std::vector<std::optional<std::size_t>>;
using Order = std::vector<std::size_t>;

std::int64_t cost_of(std::size_t levels, const std::vector<RankPath>& pods,
                     const PodTraffic& traffic, const Order& order) {
  return weighted_cost(traffic, communicator_crossings(levels, pods, traffic, order));
}

bool keeps(const Order& order, const Fixed& fixed) {
  for (std::size_t pod = 0; pod < fixed.size(); ++pod)
    if (fixed[pod] && order[*fixed[pod]] != pod) return false;
  return std::set<std::size_t>(order.begin(), order.end()).size() == fixed.size();
}

std::int64_t least_cost(std::size_t levels, const std::vector<RankPath>& pods, const Fixed& fixed,
                        const PodTraffic& traffic) {
  Order order(pods.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::optional<std::int64_t> least;
  do {
    if (!keeps(order, fixed)) continue;
    const std::int64_t cost = cost_of(levels, pods, traffic, order);
    least = std::min(cost, least.value_or(cost));
  } while (std::next_permutation(order.begin(), order.end()));
  return *least;
}

TEST(CompletedOrder, TheMissingHalfOfAGroupJoinsTheOther) {
  // Groups of two; pods 2 and 3 run as ranks 0 and 2, in racks a and b.
  domain::Communicators communicators;
  communicators.list = {{"pairs", 2, 1}};
  const auto traffic = pod_traffic(communicators, 4);
  ASSERT_TRUE(traffic);
  const WeightedOrder found =
      completed_order(1, {{"b"}, {"a"}, {"a"}, {"b"}}, {{}, {}, 0U, 2U}, *traffic);
  EXPECT_EQ(found.order, (Order{2, 1, 3, 0}));
  EXPECT_TRUE(found.optimal);
}

TEST(CompletedOrder, IsTheCheapestOfAllThatKeepTheRunningPods) {
  std::mt19937 random(7);
  const auto draw = [&random](int most) {
    return std::uniform_int_distribution<int>(0, most)(random);
  };
  int moved = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t pods = 4 + static_cast<std::size_t>(draw(1)) * 2;
    domain::Communicators communicators;
    communicators.list = {{"a", 2, 1, 1 + draw(8)},
                          {"b", static_cast<std::int64_t>(pods) / 2, 2, 1 + draw(8)}};
    communicators.list.back().pattern = static_cast<domain::Pattern>(draw(2));
    const auto traffic = pod_traffic(communicators, pods);
    ASSERT_TRUE(traffic);
    std::vector<RankPath> paths;
    for (std::size_t i = 0; i < pods; ++i)
      paths.push_back({std::to_string(draw(1)), std::to_string(draw(2))});
    Order ranks(pods);
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::shuffle(ranks.begin(), ranks.end(), random);
    Fixed fixed(pods);
    for (std::size_t i = 0; i < pods; ++i)
      if (draw(1) == 0) fixed[i] = ranks[i];
    const WeightedOrder found = completed_order(2, paths, fixed, *traffic);
    ASSERT_TRUE(keeps(found.order, fixed)) << round;
    EXPECT_TRUE(found.optimal);
    EXPECT_EQ(cost_of(2, paths, *traffic, found.order), least_cost(2, paths, fixed, *traffic))
        << round;
    if (found.order != depth_first(2, paths)) ++moved;
  }
  EXPECT_GT(moved, 100);
}

TEST(CompletedOrder, MorePodsThanArePermutedAreNoWorseThanDepthFirst) {
  // Two racks of 12; the first pod of each group of two runs, alternately in one rack and the
  // other, so that filling the others depth-first splits half of the groups.
  domain::Communicators communicators;
  communicators.list = {{"pairs", 2, 1}};
  const auto traffic = pod_traffic(communicators, 24);
  ASSERT_TRUE(traffic);
  std::vector<RankPath> paths;
  Fixed fixed;
  for (std::size_t i = 0; i < 24; ++i) {
    const bool runs = i < 12;
    paths.push_back({i % 2 == 0 ? "a" : "b"});
    fixed.push_back(runs ? std::optional(2 * i) : std::nullopt);
  }
  const WeightedOrder found = completed_order(1, paths, fixed, *traffic);
  EXPECT_TRUE(keeps(found.order, fixed));
  EXPECT_EQ(cost_of(1, paths, *traffic, found.order), 0);
  EXPECT_TRUE(found.optimal);
}

}  // namespace
}  // namespace chipweave::solver::completed_order_test
