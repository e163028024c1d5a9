// Which chip each rank of a pod gets.
#include "common/solver/gang/ranks/chip_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "common/solver/gang/chips/node_chips.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::solver::chip_order_test {
namespace {

using domain::Communicator;
using domain::Pattern;
using ::testing::ElementsAre;

TEST(ChipOrder, WhereAllChipsAreAlikeItIsAscending) {
  const domain::NodeTopology machine = test::profile("hgx-h100-8");
  ChipOrder order({{"tensor", 4, 1, 64}, {"data", 2, 4, 4}});
  EXPECT_THAT(order.of(machine, machine.all(), 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(ChipOrder, TensorGroupsOfFourAreTheQuadsOfADgx1) {
  const domain::NodeTopology machine = test::profile("hgx-v100-8");
  // Strided groups: ranks 0, 2, 4, 6 and 1, 3, 5, 7.
  ChipOrder order({{"tensor", 4, 2, 64, Pattern::all_to_all}});
  const std::vector<int> slots = order.of(machine, machine.all(), 0);
  std::set<int> first;
  for (std::size_t i = 0; i < 8; i += 2) first.insert(slots[i]);
  EXPECT_THAT(first, ElementsAre(0, 1, 2, 3));
}

TEST(ChipOrder, TheSecondPodContinuesTheGroupsOfTheFirst) {
  ChipOrder order({{"tensor", 8, 1, 64}});
  // Ranks 4 to 7 of a ring of eight: three of its pairs.
  const auto groups = order.groups_of(4, 4);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].pairs, (std::vector<std::pair<int, int>>{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(ChipOrder, GroupsOfManyPodsAreOutsideOfEach) {
  ChipOrder order({{"data", 4, 8, 4}});
  EXPECT_TRUE(order.groups_of(8, 8).empty());
}

// (sum of weight / least width of a group, sum over pairs)
std::pair<double, double> cost(const HopTable& hops, const std::vector<RankGroup>& groups,
                               const std::vector<int>& order) {
  std::pair<double, double> out{0, 0};
  for (const RankGroup& group : groups) {
    double slowest = 0;
    for (const auto& [i, j] : group.pairs) {
      const double time =
          1e6 /
          static_cast<double>(
              hops.of(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]).any);
      slowest = std::max(slowest, time);
      out.second += static_cast<double>(group.weight) * time;
    }
    out.first += static_cast<double>(group.weight) * slowest;
  }
  return out;
}

HopTable random_hops(int n, std::mt19937& random) {
  HopTable hops(n);
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      const Rate rate = Rate{10'000'000} << std::uniform_int_distribution<int>(0, 3)(random);
      hops.set(i, j, {rate, rate});
    }
  }
  return hops;
}

TEST(ChipOrder, NoOrderOfFewChipsIsBetter) {
  std::mt19937 random(11);
  int moved = 0;
  for (int round = 0; round < 200; ++round) {
    const HopTable hops = random_hops(6, random);
    const auto pattern = static_cast<Pattern>(round % 3);
    const ChipOrder order({{"a", 3, 2, 3, pattern}, {"b", 2, 1, 1}});
    const auto groups = order.groups_of(0, 6);
    const std::vector<int> found = best_group_order(hops, groups);
    std::vector<int> tried(6);
    std::iota(tried.begin(), tried.end(), 0);
    if (found != tried) ++moved;
    const auto best = cost(hops, groups, found);
    do {
      const auto other = cost(hops, groups, tried);
      const bool slower = other.first > best.first * (1 - 1e-4);
      const bool same = other.first < best.first * (1 + 1e-4);
      ASSERT_TRUE(slower) << round;
      ASSERT_TRUE(!same || other.second > best.second * (1 - 1e-4)) << round;
    } while (std::next_permutation(tried.begin(), tried.end()));
  }
  EXPECT_GT(moved, 150);
}

TEST(ChipOrder, ManyChipsAreNoWorseThanAscending) {
  std::mt19937 random(12);
  for (int round = 0; round < 20; ++round) {
    const HopTable hops = random_hops(16, random);
    const ChipOrder order({{"a", 4, 1, 64}, {"b", 4, 4, 4}});
    const auto groups = order.groups_of(0, 16);
    const std::vector<int> found = best_group_order(hops, groups);
    std::vector<int> ascending(16);
    std::iota(ascending.begin(), ascending.end(), 0);
    EXPECT_TRUE(std::is_permutation(found.begin(), found.end(), ascending.begin()));
    EXPECT_LT(cost(hops, groups, found), cost(hops, groups, ascending));
  }
}

}  // namespace
}  // namespace chipweave::solver::chip_order_test
