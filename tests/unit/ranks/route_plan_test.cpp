#include "common/solver/ranks/route_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace chipweave::solver {
namespace {

using Order = std::vector<std::size_t>;

// One pod per host, by leaf: "a" → path {"a"}.
std::vector<RoutePod> under_leaves(const std::vector<std::string>& leaves) {
  std::vector<RoutePod> out;
  out.reserve(leaves.size());
  for (const std::string& leaf : leaves)
    out.push_back({"h" + std::to_string(out.size()), leaf.empty() ? RankPath() : RankPath{leaf}});
  return out;
}

std::vector<RankPath> paths_of(const std::vector<RoutePod>& pods) {
  std::vector<RankPath> out;
  out.reserve(pods.size());
  for (const RoutePod& pod : pods) out.push_back(pod.path);
  return out;
}

bool is_order_of(const Order& order, std::size_t pods) {
  Order sorted = order;
  std::sort(sorted.begin(), sorted.end());
  Order all(pods);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return sorted == all;
}

TEST(RoutePlan, TheLargestLeafComesFirstAndItsFirstPodIsTheMaster) {
  const RoutePlan plan = route_plan(1, under_leaves({"a", "b", "a", "b", "b", "c"}));
  EXPECT_EQ(plan.state, RouteState::planned);
  EXPECT_EQ(plan.order, (Order{1, 3, 4, 0, 2, 5}));
  EXPECT_EQ(plan.rank_of, (Order{3, 0, 4, 1, 2, 5}));
  EXPECT_EQ(plan.master(), 1U);
  EXPECT_EQ(plan.before, (Order{5}));
  EXPECT_EQ(plan.crossings, (Order{3}));
}

TEST(RoutePlan, LeavesOfEqualSizeComeByTheirFirstPod) {
  EXPECT_EQ(route_plan(1, under_leaves({"z", "a", "z", "a"})).order, (Order{0, 2, 1, 3}));
}

TEST(RoutePlan, LeavesOfOneSpineStayTogetherAndTheLargestSpineIsFirst) {
  const std::vector<RoutePod> pods = {{"h0", {"s0", "l0"}}, {"h1", {"s1", "l0"}},
                                      {"h2", {"s1", "l1"}}, {"h3", {"s0", "l0"}},
                                      {"h4", {"s1", "l1"}}, {"h5", {"s1", "l2"}}};
  const RoutePlan plan = route_plan(2, pods);
  EXPECT_EQ(plan.order, (Order{2, 4, 1, 5, 0, 3}));
  EXPECT_EQ(plan.crossings, (Order{2, 4}));
}

TEST(RoutePlan, PodsOfOneHostStayTogether) {
  const std::vector<RoutePod> pods = {
      {"h0", {"a"}}, {"h1", {"a"}}, {"h0", {"a"}}, {"h2", {"b"}}, {"h1", {"a"}}};
  EXPECT_EQ(route_plan(1, pods).order, (Order{0, 2, 1, 4, 3}));
}

TEST(RoutePlan, WhatTheNetworkDoesNotKnowIsLastInItsOrder) {
  const RoutePlan plan = route_plan(1, under_leaves({"", "", "a", "", "b", "b"}));
  EXPECT_EQ(plan.order, (Order{4, 5, 2, 0, 1, 3}));
  EXPECT_EQ(plan.unknown, (Order{0, 1, 3}));
}

TEST(RoutePlan, OneHostOrNoTopologyKeepsTheOrder) {
  const RoutePlan one = route_plan(1, {{"h", {"a"}}, {"h", {"a"}}});
  EXPECT_EQ(one.state, RouteState::one_host);
  EXPECT_EQ(one.order, (Order{0, 1}));
  const RoutePlan blind = route_plan(1, under_leaves({"", "", ""}));
  EXPECT_EQ(blind.state, RouteState::no_topology);
  EXPECT_EQ(blind.order, (Order{0, 1, 2}));
  EXPECT_EQ(route_plan(0, under_leaves({"a", "b"})).state, RouteState::no_topology);
  EXPECT_EQ(route_plan(1, {}).state, RouteState::one_host);
  EXPECT_EQ(route_plan(1, {}).master(), 0U);
}

TEST(RoutePlan, TwoHostsAreEnough) {
  const RoutePlan plan = route_plan(1, under_leaves({"a", "b"}));
  EXPECT_EQ(plan.state, RouteState::planned);
  EXPECT_EQ(plan.order, (Order{0, 1}));
}

// The minimum over all permutations, at every level at once.
TEST(RoutePlan, NoPermutationCrossesFewerBordersAtAnyLevel) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    std::vector<RoutePod> pods(1 + random() % 7);
    for (RoutePod& pod : pods) {
      pod.host = "h" + std::to_string(random() % 9);
      for (std::size_t level = 0; level < 2; ++level) {
        const unsigned name = static_cast<unsigned>(random() % 4);
        pod.path.push_back(name == 3 ? "" : "d" + std::to_string(name));
      }
    }
    std::map<std::string, RankPath> of_host;  // one machine is in one place
    for (RoutePod& pod : pods) pod.path = of_host.try_emplace(pod.host, pod.path).first->second;
    const RoutePlan plan = route_plan(2, pods);
    ASSERT_TRUE(is_order_of(plan.order, pods.size()));
    Order each(pods.size());
    std::iota(each.begin(), each.end(), std::size_t{0});
    Order least = ring_crossings(2, paths_of(pods), each);
    do {
      const Order crossings = ring_crossings(2, paths_of(pods), each);
      for (std::size_t level = 0; level < 2; ++level)
        least[level] = std::min(least[level], crossings[level]);
    } while (std::next_permutation(each.begin(), each.end()));
    if (plan.state == RouteState::planned) {
      EXPECT_EQ(plan.crossings, least);
    }
  }
}

// Every host, leaf and spine is one run of ranks; larger siblings come first; pods of a host and
// hosts of a leaf are in the order of their indexes.
TEST(RoutePlan, GroupsAreRunsInTheOrderOfTheirSize) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<RoutePod> pods(2 + random() % 40);
    for (RoutePod& pod : pods) {
      const unsigned host = static_cast<unsigned>(random() % 24);
      const unsigned leaf = host % 9;
      pod = {"h" + std::to_string(host),
             {"s" + std::to_string(leaf % 3), "l" + std::to_string(leaf)}};
    }
    const RoutePlan plan = route_plan(2, pods);
    ASSERT_TRUE(is_order_of(plan.order, pods.size()));
    for (std::size_t rank = 0; rank < plan.order.size(); ++rank)
      ASSERT_EQ(plan.rank_of[plan.order[rank]], rank);
    std::map<std::string, std::vector<std::size_t>> runs;  // spine, leaf or host → its ranks
    for (std::size_t rank = 0; rank < plan.order.size(); ++rank) {
      const RoutePod& pod = pods[plan.order[rank]];
      for (const std::string& name : {pod.path[0], pod.path[1], pod.host})
        runs[name].push_back(rank);
    }
    for (const auto& [name, ranks] : runs)
      EXPECT_EQ(ranks.back() - ranks.front() + 1, ranks.size()) << name;
    for (std::size_t rank = 1; rank < plan.order.size(); ++rank) {
      const RoutePod& left = pods[plan.order[rank - 1]];
      const RoutePod& right = pods[plan.order[rank]];
      if (left.path[0] != right.path[0]) {
        EXPECT_GE(runs[left.path[0]].size(), runs[right.path[0]].size());
      } else if (left.path[1] != right.path[1]) {
        EXPECT_GE(runs[left.path[1]].size(), runs[right.path[1]].size());
      } else if (left.host == right.host) {
        EXPECT_LT(plan.order[rank - 1], plan.order[rank]);
      }
    }
  }
}

}  // namespace
}  // namespace chipweave::solver
