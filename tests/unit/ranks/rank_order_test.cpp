#include "common/solver/ranks/rank_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace chipweave::solver {
namespace {

using Order = std::vector<std::size_t>;

TEST(RankOrder, TheFirstPodsDomainsComeFirstAndOthersInNaturalOrder) {
  const std::vector<RankPath> pods = {
      {"s1", "l2"}, {"s10", "l1"}, {"s2", "l1"}, {"s1", "l1"}, {"s1", "l2"}};
  EXPECT_EQ(depth_first(2, pods), (Order{0, 4, 3, 2, 1}));
}

TEST(RankOrder, WhatIsNotKnownIsAtTheEndInItsOrder) {
  const std::vector<RankPath> pods = {{}, {"s1", ""}, {"", "l1"}, {"s1", "l1"}};
  const Order order = depth_first(2, pods);
  EXPECT_EQ(order, (Order{3, 1, 0, 2}));
  EXPECT_EQ(ring_crossings(2, pods, order), (Order{2, 3}));
}

TEST(RankOrder, NothingIsCrossedByOneOrNone) {
  EXPECT_TRUE(depth_first(1, {}).empty());
  EXPECT_EQ(ring_crossings(1, {}, {}), (Order{0}));
  EXPECT_EQ(ring_crossings(1, {{"a"}}, {0}), (Order{0}));
  EXPECT_EQ(ring_crossings(1, {{"a"}, {"b"}}, {0, 1}), (Order{2}));
}

// With k domains no ring crosses fewer than k borders; all levels reach their minimum at once.
TEST(RankOrder, CrossesAsOftenAsThereAreDomains) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const std::size_t levels = 1 + random() % 4;
    std::vector<RankPath> pods(1 + random() % 30);
    for (RankPath& path : pods) {
      for (std::size_t level = 0; level < levels; ++level)
        path.push_back("d" + std::to_string(random() % 3));
    }
    const Order order = depth_first(levels, pods);
    Order sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], i);
    const Order crossings = ring_crossings(levels, pods, order);
    for (std::size_t level = 0; level < levels; ++level) {
      std::set<RankPath> domains;
      for (const RankPath& path : pods)
        domains.emplace(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(level) + 1);
      EXPECT_EQ(crossings[level], domains.size() > 1 ? domains.size() : 0);
    }
  }
}

}  // namespace
}  // namespace chipweave::solver
