#include "common/solver/simulate/gangs/gang_arrivals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/simulate/small_fabric.hpp"

namespace chipweave::simulate {
namespace {

using domain::TraceGang;

std::map<std::int64_t, int> sizes_of(const GangMix& mix, std::size_t count) {
  RandomNumbers random(3);
  std::map<std::int64_t, int> out;
  for (const TraceGang& one : drawn_gangs(mix, count, random)) ++out[one.all_chips()];
  return out;
}

TEST(GangArrivals, PowersOfTwoAreEquallyLikely) {
  const auto sizes = sizes_of({GangSizes::powers_of_two, 3, 70, 8}, 10000);
  ASSERT_EQ(sizes.size(), 5U);  // 4 to 64
  for (const auto& [size, count] : sizes) EXPECT_NEAR(count, 2000, 150) << size;
  EXPECT_EQ(sizes_of({GangSizes::powers_of_two, 1, 1, 8}, 5),
            (std::map<std::int64_t, int>{{1, 5}}));
}

TEST(GangArrivals, LogUniformSizesAreRoundedUpToWholePods) {
  const auto sizes = sizes_of({GangSizes::log_uniform, 1, 63, 4}, 20000);
  EXPECT_EQ(sizes.begin()->first, 1);
  EXPECT_EQ(sizes.rbegin()->first, 64);
  int small = 0;  // from 1 to 7: half of the logarithm
  for (const auto& [size, count] : sizes) {
    EXPECT_TRUE(size < 4 || size % 4 == 0) << size;
    small += size <= 8 ? count : 0;
  }
  EXPECT_NEAR(small, 20000 * 0.528, 300);  // log 9 / log 64
}

TEST(GangArrivals, PodsHaveTheirChips) {
  RandomNumbers random(1);
  for (const TraceGang& one : drawn_gangs({GangSizes::log_uniform, 1, 500, 8}, 500, random)) {
    EXPECT_GE(one.pods, 1);
    EXPECT_TRUE(one.chips == 8 || (one.pods == 1 && one.chips < 8));
  }
}

TEST(GangArrivals, FromATraceWithItsShapes) {
  RandomNumbers random(1);
  EXPECT_TRUE(drawn_gangs(std::vector<TraceGang>(), 5, random).empty());
  const auto gangs = drawn_gangs({test::gang(3, 4, 0, 50)}, 5, random);
  ASSERT_EQ(gangs.size(), 5U);
  EXPECT_EQ(gangs[4].pods, 3);
  EXPECT_DOUBLE_EQ(gangs[4].duration_s, 50);
}

TEST(GangArrivals, OneSeedGivesTheSameJobsAtEveryLoad) {
  const auto drawn = [](double load) {
    RandomNumbers random(9);
    auto gangs = drawn_gangs({GangSizes::powers_of_two, 1, 64, 8}, 20000, random);
    draw_durations(gangs, 40, random);
    draw_arrivals(gangs, gap_of_load(gangs, load, 100), random);
    return gangs;
  };
  const auto half = drawn(0.5);
  const auto full = drawn(1);
  double asked = 0;
  for (std::size_t i = 0; i < half.size(); ++i) {
    EXPECT_EQ(half[i].pods, full[i].pods);
    EXPECT_DOUBLE_EQ(half[i].duration_s, full[i].duration_s);
    EXPECT_NEAR(half[i].arrival_s, 2 * full[i].arrival_s, 1e-6 * half[i].arrival_s);
    asked += static_cast<double>(half[i].all_chips()) * half[i].duration_s;
  }
  EXPECT_DOUBLE_EQ(half.front().arrival_s, 0);
  EXPECT_NEAR(asked / (half.back().arrival_s * 100), 0.5, 0.02);
}

}  // namespace
}  // namespace chipweave::simulate
