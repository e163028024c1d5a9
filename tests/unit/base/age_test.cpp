#include "common/base/age.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace chipweave {
namespace {

// Those of kubectl's own test of HumanDuration, and the borders between its forms.
TEST(Age, IsWrittenAsKubectlWritesIt) {
  const auto text = [](std::int64_t seconds) { return age_text(std::chrono::seconds(seconds)); };
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 3600;
  constexpr std::int64_t kDay = 24 * kHour;
  constexpr std::int64_t kYear = 365 * kDay;
  EXPECT_EQ(text(-5), "0s");
  EXPECT_EQ(text(0), "0s");
  EXPECT_EQ(text(70), "70s");
  EXPECT_EQ(text(119), "119s");
  EXPECT_EQ(text(2 * kMinute), "2m");
  EXPECT_EQ(text(3 * kMinute + 10), "3m10s");
  EXPECT_EQ(text(10 * kMinute + 10), "10m");
  EXPECT_EQ(text(70 * kMinute), "70m");
  EXPECT_EQ(text(3 * kHour - 1), "179m");
  EXPECT_EQ(text(3 * kHour), "3h");
  EXPECT_EQ(text(4 * kHour + 10 * kMinute), "4h10m");
  EXPECT_EQ(text(8 * kHour), "8h");
  EXPECT_EQ(text(47 * kHour), "47h");
  EXPECT_EQ(text(2 * kDay), "2d");
  EXPECT_EQ(text(49 * kHour), "2d1h");
  EXPECT_EQ(text(8 * kDay + 2 * kHour), "8d");
  EXPECT_EQ(text(367 * kDay), "367d");
  EXPECT_EQ(text(2 * kYear), "2y");
  EXPECT_EQ(text(4 * kYear + 25 * kDay), "4y25d");
  EXPECT_EQ(text(9 * kYear + 25 * kDay), "9y");
}

}  // namespace
}  // namespace chipweave
