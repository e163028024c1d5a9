#include "common/solver/simulate/arrivals.hpp"

#include <gtest/gtest.h>

#include "tests/unit/simulate/small_cluster.hpp"

namespace chipweave::simulate {
namespace {

using test::pod;

TEST(Arrivals, InflationStopsWhenTheClustersChipsAreAskedFor) {
  const std::vector<domain::TracePod> pods{pod(0), pod(1), pod(8)};
  const auto arrivals = inflated(pods, {100, 1.5, 1000, 7});
  int asked = 0;
  for (const Arrival& a : arrivals) {
    EXPECT_LT(asked, 150);
    asked += pods[a.pod].chips;
  }
  EXPECT_GE(asked, 150);
  const auto again = inflated(pods, {100, 1.5, 1000, 7});
  const auto other = inflated(pods, {100, 1.5, 1000, 8});
  const auto numbers = [](const std::vector<Arrival>& list) {
    std::vector<std::size_t> out;
    for (const Arrival& a : list) out.push_back(a.pod);
    return out;
  };
  EXPECT_EQ(numbers(arrivals), numbers(again));
  EXPECT_NE(numbers(arrivals), numbers(other));
}

TEST(Arrivals, InflationEnds) {
  EXPECT_TRUE(inflated({pod(0)}, {100, 1, 1000, 1}).empty());
  EXPECT_TRUE(inflated({}, {100, 1, 1000, 1}).empty());
  EXPECT_EQ(inflated({pod(0), pod(1)}, {1000000, 1, 50, 1}).size(), 50U);
}

TEST(Arrivals, DrawsAreTheSameOnEveryMachine) {
  const auto arrivals = inflated({pod(1), pod(2), pod(3), pod(4)}, {16, 1, 1000, 1});
  std::vector<std::size_t> numbers;
  for (const Arrival& a : arrivals) numbers.push_back(a.pod);
  EXPECT_EQ(numbers, (std::vector<std::size_t>{1, 3, 2, 3, 1, 0}));  // splitmix64 from 1, modulo 4
}

TEST(Arrivals, GeneratedGapsAndDurationsHaveTheirMeans) {
  const auto arrivals = generated({pod(1)}, {3600, 40, 20000, 3});
  ASSERT_EQ(arrivals.size(), 20000U);
  double durations = 0;
  double last = 0;
  for (const Arrival& a : arrivals) {
    EXPECT_GE(a.time_s, last);
    last = a.time_s;
    durations += a.duration_s;
  }
  EXPECT_NEAR(last / 20000, 1, 0.03);
  EXPECT_NEAR(durations / 20000, 40, 1.2);
}

}  // namespace
}  // namespace chipweave::simulate
