#include "common/solver/ranks/weighted_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::solver {
namespace {

using domain::Communicator;
using domain::Communicators;
using domain::ParallelSizes;
using ::testing::HasSubstr;
using Order = std::vector<std::size_t>;
using Pods = std::vector<RankPath>;

// ---- An oracle: the formula of docs/concepts/rank-order.md, rank by rank, over every order. ----
// ----

// By pair of positions: the traffic from ranks of the first to their next ranks at the second.
using Matrix = std::vector<std::vector<std::int64_t>>;

// The members with which member k exchanges data, each pair at one of its ends.
std::vector<std::int64_t> partners(const Communicator& it, std::int64_t k) {
  std::vector<std::int64_t> out;
  if (it.pattern == domain::Pattern::ring) {
    out.push_back((k + 1) % it.size);
  } else if (it.pattern == domain::Pattern::all_to_all) {
    for (std::int64_t other = k + 1; other < it.size; ++other) out.push_back(other);
  } else if (k > 0) {
    // k is an odd multiple of a power of two; its parent is the multiple of twice that power next
    // to it whose own power is the larger one, or the lower one where that is outside.
    std::int64_t power = 1;
    while (k / power % 2 == 0) power *= 2;
    const std::int64_t odd = k / power;
    const std::int64_t parent = power * (odd % 4 == 1 ? odd + 1 : odd - 1);
    out.push_back(parent < it.size ? parent : power * (odd - 1));
  }
  return out;
}

Matrix sent(const std::vector<Communicator>& list, std::size_t pods, std::int64_t ranks_per_pod) {
  Matrix out(pods, std::vector<std::int64_t>(pods, 0));
  const std::int64_t ranks = static_cast<std::int64_t>(pods) * ranks_per_pod;
  for (const Communicator& it : list) {
    const std::int64_t block = it.size * it.stride;
    for (std::int64_t base = 0; base < ranks; base += block) {
      for (std::int64_t a = 0; a < it.stride; ++a) {
        for (std::int64_t k = 0; k < it.size; ++k) {
          const std::int64_t from = base + a + it.stride * k;
          for (const std::int64_t other : partners(it, k)) {
            const std::int64_t to = base + a + it.stride * other;
            out[static_cast<std::size_t>(from / ranks_per_pod)]
               [static_cast<std::size_t>(to / ranks_per_pod)] += it.weight;
          }
        }
      }
    }
  }
  return out;
}

// Doubles per level; 1 at the finest.
std::int64_t apart(std::size_t levels, const RankPath& x, const RankPath& y) {
  std::int64_t sum = 0;
  std::int64_t weight = std::int64_t{1} << levels;
  RankPath of_x;
  RankPath of_y;
  for (std::size_t level = 0; level < levels; ++level) {
    weight /= 2;
    const auto add = [&](RankPath& known, const RankPath& path) {
      const bool was = level == 0 || !known.back().empty();
      known.push_back(was && level < path.size() ? path[level] : "");
    };
    add(of_x, x);
    add(of_y, y);
    if (of_x != of_y) sum += weight;
  }
  return sum;
}

std::int64_t cost_of(std::size_t levels, const Pods& pods, const Matrix& matrix,
                     const Order& order) {
  std::int64_t sum = 0;
  for (std::size_t p = 0; p < order.size(); ++p) {
    for (std::size_t q = 0; q < order.size(); ++q) {
      if (matrix[p][q] != 0) sum += matrix[p][q] * apart(levels, pods[order[p]], pods[order[q]]);
    }
  }
  return sum;
}

// Orders that differ only by swapping pods with the same path count once.
std::int64_t least_cost(std::size_t levels, const Pods& pods, const Matrix& matrix) {
  std::map<RankPath, std::size_t> kinds;
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < pods.size(); ++i)
    at.push_back(kinds.try_emplace(pods[i], i).first->second);
  Matrix price(pods.size(), std::vector<std::int64_t>(pods.size(), 0));
  for (const std::size_t x : at) {
    for (const std::size_t y : at) price[x][y] = apart(levels, pods[x], pods[y]);
  }
  std::sort(at.begin(), at.end());
  std::int64_t least = INT64_MAX;
  do {
    std::int64_t sum = 0;
    for (std::size_t p = 0; p < at.size(); ++p) {
      for (std::size_t q = 0; q < at.size(); ++q) sum += matrix[p][q] * price[at[p]][at[q]];
    }
    least = std::min(least, sum);
  } while (std::next_permutation(at.begin(), at.end()));
  return least;
}

// ---- Random jobs. ----

class Jobs {
 public:
  explicit Jobs(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }

  Pods pods(std::size_t n, std::size_t levels, std::size_t names) {
    Pods out(n);
    for (RankPath& path : out) {
      for (std::size_t level = 0; level < levels; ++level)
        path.push_back(below(12) == 0 ? "" : "d" + std::to_string(below(names)));
    }
    return out;
  }

  std::int64_t divisor(std::int64_t of) {
    std::vector<std::int64_t> all;
    for (std::int64_t d = 1; d <= of; ++d) {
      if (of % d == 0) all.push_back(d);
    }
    return all[below(all.size())];
  }

  Communicators communicators(std::size_t pods) {
    Communicators out;
    out.ranks_per_pod = static_cast<std::int64_t>(1 + below(4));
    const std::int64_t ranks = static_cast<std::int64_t>(pods) * out.ranks_per_pod;
    if (below(2) == 0) {
      ParallelSizes sizes;
      sizes.tensor = divisor(ranks);
      sizes.context = divisor(ranks / sizes.tensor);
      sizes.pipeline = divisor(ranks / sizes.tensor / sizes.context);
      sizes.expert = divisor(ranks / sizes.tensor / sizes.pipeline);
      if (below(2) == 0) sizes.weights.pipeline = static_cast<std::int64_t>(below(20));
      out.sizes = sizes;
      return out;
    }
    std::vector<Communicator> list(1 + below(3));
    for (Communicator& it : list) {
      it.stride = divisor(ranks);
      it.size = divisor(ranks / it.stride);
      it.weight = static_cast<std::int64_t>(below(6));
      it.pattern = static_cast<domain::Pattern>(below(3));
    }
    out.list = std::move(list);
    return out;
  }

 private:
  std::mt19937 random_;
};

struct EvaluatedOrder {
  WeightedOrder answer;
  std::int64_t cost = 0;
  std::int64_t depth_first = 0;
};

EvaluatedOrder order_cost(std::size_t levels, const Pods& pods, const PodTraffic& traffic) {
  EvaluatedOrder out;
  out.answer = weighted_order(levels, pods, traffic);
  const auto cost = [&](const Order& order) {
    return weighted_cost(traffic, communicator_crossings(levels, pods, traffic, order));
  };
  out.cost = cost(out.answer.order);
  out.depth_first = cost(depth_first(levels, pods));
  return out;
}

bool is_permutation_of(std::size_t n, Order order) {
  std::sort(order.begin(), order.end());
  Order all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return order == all;
}

TEST(WeightedOrder, CostsTheLeastThereIsInSmallJobs) {
  Jobs jobs(11);
  int better = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t levels = 1 + jobs.below(3);
    const Pods pods = jobs.pods(1 + jobs.below(8), levels, 2 + jobs.below(2));
    const Communicators communicators = jobs.communicators(pods.size());
    const auto traffic = pod_traffic(communicators, pods.size());
    ASSERT_TRUE(traffic) << traffic.error().text();
    const Matrix matrix = sent(traffic->communicators, pods.size(), communicators.ranks_per_pod);
    const EvaluatedOrder found = order_cost(levels, pods, *traffic);
    ASSERT_TRUE(is_permutation_of(pods.size(), found.answer.order)) << "round " << round;
    EXPECT_TRUE(found.answer.optimal) << "round " << round;
    EXPECT_EQ(found.cost, cost_of(levels, pods, matrix, found.answer.order)) << "round " << round;
    EXPECT_EQ(found.cost, least_cost(levels, pods, matrix)) << "round " << round;
    EXPECT_LE(found.cost, found.depth_first) << "round " << round;
    if (found.cost == found.depth_first) {
      EXPECT_EQ(found.answer.order, depth_first(levels, pods)) << "round " << round;
    } else {
      ++better;
    }
  }
  EXPECT_GT(better, 100);
}

TEST(WeightedOrder, NeverCostsMoreThanDepthFirst) {
  Jobs jobs(12);
  int better = 0;
  double saved = 0;  // sum of shares of depth-first's cost
  for (int round = 0; round < 500; ++round) {
    const std::size_t levels = 1 + jobs.below(3);
    const std::size_t names = 2 + jobs.below(5);
    const Pods pods = jobs.pods(9 + jobs.below(60), levels, names);
    const auto traffic = pod_traffic(jobs.communicators(pods.size()), pods.size());
    ASSERT_TRUE(traffic) << traffic.error().text();
    const EvaluatedOrder found = order_cost(levels, pods, *traffic);
    ASSERT_TRUE(is_permutation_of(pods.size(), found.answer.order)) << "round " << round;
    EXPECT_LE(found.cost, found.depth_first) << "round " << round;
    if (found.cost == found.depth_first) continue;
    ++better;
    saved += 1 - static_cast<double>(found.cost) / static_cast<double>(found.depth_first);
  }
  EXPECT_GT(better, 100);
  EXPECT_GT(saved, 88.4);  // no part of the search can be left out without less
}

// ---- Named cases, in docs/concepts/rank-order.md with these numbers. ----

// Leaves of so many pods: l0, l1 …
Pods leaves(const std::vector<std::size_t>& sizes) {
  Pods out;
  for (std::size_t leaf = 0; leaf < sizes.size(); ++leaf)
    out.insert(out.end(), sizes[leaf], {"l" + std::to_string(leaf)});
  return out;
}

// Pods with eight chips, a tensor group each.
Communicators job(std::int64_t context, std::int64_t data, std::int64_t pipeline) {
  Communicators out;
  out.ranks_per_pod = 8;
  out.sizes.tensor = 8;
  out.sizes.context = context;
  out.sizes.data = data;
  out.sizes.pipeline = pipeline;
  return out;
}

// Pairs of ranks on different leaves, by communicator.
std::map<std::string, std::int64_t> crossed(const Pods& pods, const PodTraffic& traffic,
                                            const Order& order) {
  std::map<std::string, std::int64_t> out;
  const auto crossings = communicator_crossings(1, pods, traffic, order);
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    if (crossings[i][0] != 0) out[traffic.communicators[i].name] = crossings[i][0];
  }
  return out;
}

using Crossed = std::map<std::string, std::int64_t>;

// A stage of four pods does not fill a leaf of six: depth-first cuts two stages, although cutting
// one is enough.
TEST(WeightedOrderCase, StagesOnLeavesOfOddSizes) {
  const Pods pods = leaves({6, 4, 6});
  const auto traffic = pod_traffic(job(1, 4, 4), pods.size());
  ASSERT_TRUE(traffic) << traffic.error().text();
  const EvaluatedOrder found = order_cost(1, pods, *traffic);
  EXPECT_EQ(found.depth_first, 224);
  EXPECT_EQ(found.cost, 160);
  EXPECT_TRUE(found.answer.optimal);
  EXPECT_EQ(crossed(pods, *traffic, depth_first(1, pods)),
            (Crossed{{"data", 32}, {"pipeline", 96}}));
  EXPECT_EQ(crossed(pods, *traffic, found.answer.order), (Crossed{{"data", 16}, {"pipeline", 96}}));
  EXPECT_EQ(found.answer.order, (Order{0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 4, 5, 14, 15}));
}

// Levels at which every pod is alone make no difference and add no arrangements.
TEST(WeightedOrderCase, StagesOnLeavesOfOddSizesAndHosts) {
  Pods pods = leaves({6, 4, 6});
  for (std::size_t i = 0; i < pods.size(); ++i) pods[i].push_back("h" + std::to_string(i));
  const auto traffic = pod_traffic(job(1, 4, 4), pods.size());
  ASSERT_TRUE(traffic) << traffic.error().text();
  const EvaluatedOrder found = order_cost(2, pods, *traffic);
  EXPECT_EQ(found.depth_first - found.cost, 2 * (224 - 160));
  EXPECT_TRUE(found.answer.optimal);
  EXPECT_EQ(found.answer.order, (Order{0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 4, 5, 14, 15}));
}

// Context groups are pairs of pods: depth-first cuts two of them, the two odd leaves can share one.
TEST(WeightedOrderCase, PairsOnLeavesOfOddSizes) {
  const Pods pods = leaves({3, 2, 3});
  const auto traffic = pod_traffic(job(2, 4, 1), pods.size());
  ASSERT_TRUE(traffic) << traffic.error().text();
  const EvaluatedOrder found = order_cost(1, pods, *traffic);
  EXPECT_EQ(found.depth_first, 704);
  EXPECT_EQ(found.cost, 448);
  EXPECT_TRUE(found.answer.optimal);
  EXPECT_EQ(crossed(pods, *traffic, depth_first(1, pods)),
            (Crossed{{"context", 32}, {"data", 48}}));
  EXPECT_EQ(crossed(pods, *traffic, found.answer.order), (Crossed{{"context", 16}, {"data", 48}}));
}

Communicators mixture_of_experts() {
  Communicators out = job(1, 4, 4);
  out.sizes.expert = 2;
  out.sizes.weights.pipeline = 8;
  out.sizes.weights.data = 1;
  out.sizes.weights.expert_data = 1;
  return out;
}

// Each stage is striped over both leaves in the same way: experts and pipelines stay inside, and
// only the gradients, which are hidden behind the computation, cross.
TEST(WeightedOrderCase, DenseDataParallelGroupsOfExpertsStrideOverTwoLeaves) {
  const Pods pods = leaves({8, 8});
  const auto traffic = pod_traffic(mixture_of_experts(), pods.size());
  ASSERT_TRUE(traffic) << traffic.error().text();
  const EvaluatedOrder found = order_cost(1, pods, *traffic);
  EXPECT_EQ(found.depth_first, 512);
  EXPECT_EQ(found.cost, 192);
  EXPECT_TRUE(found.answer.optimal);
  EXPECT_EQ(crossed(pods, *traffic, depth_first(1, pods)), (Crossed{{"pipeline", 64}}));
  EXPECT_EQ(crossed(pods, *traffic, found.answer.order),
            (Crossed{{"expert_data", 128}, {"data", 64}}));
  EXPECT_EQ(found.answer.order, (Order{0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15}));
}

// Ranks count stages before replicas: data groups are four pods apart, one on each leaf.
TEST(WeightedOrderCase, StagesCountedBeforeReplicas) {
  const Pods pods = leaves({4, 4, 4, 4});
  Communicators communicators;
  communicators.ranks_per_pod = 8;
  communicators.list = {{"pipeline", 4, 8, 1}, {"data", 4, 32, 4}};
  const auto traffic = pod_traffic(communicators, pods.size());
  ASSERT_TRUE(traffic) << traffic.error().text();
  const EvaluatedOrder found = order_cost(1, pods, *traffic);
  EXPECT_EQ(found.depth_first, 512);
  EXPECT_EQ(found.cost, 128);
  EXPECT_EQ(crossed(pods, *traffic, found.answer.order), (Crossed{{"pipeline", 128}}));
}

TEST(WeightedOrder, BeginsWithTheFirstPodWhereItsDomainCouldChangePlaces) {
  Pods pods = leaves({8, 8});
  std::rotate(pods.begin(), pods.begin() + 9, pods.end());  // the first one is on l1
  const auto traffic = pod_traffic(mixture_of_experts(), pods.size());
  ASSERT_TRUE(traffic) << traffic.error().text();
  const WeightedOrder found = weighted_order(1, pods, *traffic);
  EXPECT_EQ(found.order.front(), 0U);
}

TEST(WeightedOrder, IsDepthFirstForOneRing) {
  Jobs jobs(13);
  for (int round = 0; round < 50; ++round) {
    const Pods pods = jobs.pods(1 + jobs.below(40), 2, 4);
    const auto traffic = pod_traffic({}, pods.size());
    ASSERT_TRUE(traffic) << traffic.error().text();
    const WeightedOrder found = weighted_order(2, pods, *traffic);
    EXPECT_TRUE(found.optimal);
    EXPECT_EQ(found.order, depth_first(2, pods));
    const auto ring = ring_crossings(2, pods, found.order);
    const auto crossings = communicator_crossings(2, pods, *traffic, found.order);
    ASSERT_EQ(traffic->communicators[2].name, "data");
    for (std::size_t level = 0; level < 2; ++level)
      EXPECT_EQ(crossings[2][level], static_cast<std::int64_t>(ring[level]));
  }
}

TEST(WeightedOrder, OfManyPodsIsAPermutationAndNotDearer) {
  Jobs jobs(14);
  for (const std::size_t n : {1024U, 9999U}) {
    Pods pods = jobs.pods(n, 2, 9);
    for (std::size_t i = 0; i < n; ++i) pods[i].push_back("host" + std::to_string(i));
    Communicators communicators;
    communicators.ranks_per_pod = 4;
    communicators.sizes.tensor = 4;
    communicators.sizes.context = n == 1024 ? 2 : 11;
    communicators.sizes.pipeline = n == 1024 ? 8 : 9;
    const auto traffic = pod_traffic(communicators, n);
    ASSERT_TRUE(traffic) << traffic.error().text();
    const EvaluatedOrder found = order_cost(3, pods, *traffic);
    EXPECT_TRUE(is_permutation_of(n, found.answer.order));
    EXPECT_LT(found.cost, found.depth_first);
    EXPECT_EQ(weighted_order(3, pods, *traffic).order, found.answer.order);
  }
}

TEST(WeightedOrder, IsExactAtAllLimitsAtOnce) {
  const std::size_t levels = limits::kMaxNetworkLevels;
  Communicators communicators;
  communicators.ranks_per_pod = limits::kMaxRanks / 4;
  communicators.list.assign(limits::kMaxCommunicators,
                            {"pair", 2, limits::kMaxRanks / 2, limits::kMaxCommunicatorWeight});
  const auto traffic = pod_traffic(communicators, 4);
  ASSERT_TRUE(traffic) << traffic.error().text();
  const EvaluatedOrder found = order_cost(
      levels,
      {RankPath(levels, "a"), RankPath(levels, "a"), RankPath(levels, "b"), RankPath(levels, "b")},
      *traffic);
  EXPECT_EQ(found.depth_first, std::int64_t{16} * 1'000'000 * 1'000'000 * 65535);
  EXPECT_EQ(found.cost, 0);
  EXPECT_EQ(found.answer.order, (Order{0, 2, 1, 3}));
}

TEST(WeightedOrder, OfNoPodsIsEmpty) {
  EXPECT_TRUE(weighted_order(1, {}, PodTraffic{}).order.empty());
}

}  // namespace
}  // namespace chipweave::solver
