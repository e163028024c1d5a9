#include "common/solver/gang/weighted_order.hpp"

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

// ---- An oracle: the formula of docs/rank-order.md written down rank by rank, and every order.
// ----

// By position and position: what a group's rank of the one sends to its next rank on the other.
using Matrix = std::vector<std::vector<std::int64_t>>;

Matrix sent(const std::vector<Communicator>& list, std::size_t pods, std::int64_t ranks_per_pod) {
  Matrix out(pods, std::vector<std::int64_t>(pods, 0));
  const std::int64_t ranks = static_cast<std::int64_t>(pods) * ranks_per_pod;
  for (const Communicator& it : list) {
    const std::int64_t block = it.size * it.stride;
    for (std::int64_t base = 0; base < ranks; base += block) {
      for (std::int64_t a = 0; a < it.stride; ++a) {
        for (std::int64_t k = 0; k < it.size; ++k) {
          const std::int64_t from = base + a + it.stride * k;
          const std::int64_t to = base + a + it.stride * ((k + 1) % it.size);
          out[static_cast<std::size_t>(from / ranks_per_pod)]
             [static_cast<std::size_t>(to / ranks_per_pod)] += it.weight;
        }
      }
    }
  }
  return out;
}

// Twice as much a level, the finest one.
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

// Orders that differ only in which of two pods with the same path stands where count once.
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
      out.groups = sizes;
      return out;
    }
    std::vector<Communicator> list(1 + below(3));
    for (Communicator& it : list) {
      it.stride = divisor(ranks);
      it.size = divisor(ranks / it.stride);
      it.weight = static_cast<std::int64_t>(below(6));
    }
    out.groups = std::move(list);
    return out;
  }

 private:
  std::mt19937 random_;
};

struct Judged {
  WeightedOrder answer;
  std::int64_t cost = 0;
  std::int64_t depth_first = 0;
};

Judged judge(std::size_t levels, const Pods& pods, const PodTraffic& traffic) {
  Judged out;
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
    const Judged found = judge(levels, pods, *traffic);
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
  for (int round = 0; round < 500; ++round) {
    const std::size_t levels = 1 + jobs.below(3);
    const std::size_t names = 2 + jobs.below(5);
    const Pods pods = jobs.pods(9 + jobs.below(60), levels, names);
    const auto traffic = pod_traffic(jobs.communicators(pods.size()), pods.size());
    ASSERT_TRUE(traffic) << traffic.error().text();
    const Judged found = judge(levels, pods, *traffic);
    ASSERT_TRUE(is_permutation_of(pods.size(), found.answer.order)) << "round " << round;
    EXPECT_LE(found.cost, found.depth_first) << "round " << round;
    better += found.cost < found.depth_first ? 1 : 0;
  }
  EXPECT_GT(better, 100);
  RecordProperty("better", better);
}

}  // namespace
}  // namespace chipweave::solver
