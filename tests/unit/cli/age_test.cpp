#include "cli/age.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace chipweave::cli {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kYear = 365 * kDay;

// Both sides of every border of HumanDuration.
TEST(AgeText, PrintsWhatKubectlPrints) {
  const struct {
    std::int64_t age;
    const char* text;
  } cases[] = {{0, "0s"},
               {1, "1s"},
               {70, "70s"},
               {119, "119s"},
               {120, "2m"},
               {190, "3m10s"},
               {200, "3m20s"},
               {10 * kMinute - 1, "9m59s"},
               {10 * kMinute, "10m"},
               {70 * kMinute, "70m"},
               {3 * kHour - 1, "179m"},
               {3 * kHour, "3h"},
               {3 * kHour + 10 * kMinute, "3h10m"},
               {8 * kHour - 1, "7h59m"},
               {8 * kHour, "8h"},
               {47 * kHour, "47h"},
               {2 * kDay - 1, "47h"},
               {2 * kDay, "2d"},
               {49 * kHour, "2d1h"},
               {5 * kDay + 3 * kHour, "5d3h"},
               {8 * kDay - 1, "7d23h"},
               {8 * kDay, "8d"},
               {400 * kDay, "400d"},
               {2 * kYear - 1, "729d"},
               {2 * kYear, "2y"},
               {3 * kYear + 10 * kDay, "3y10d"},
               {8 * static_cast<std::int64_t>(kYear) - 1, "7y364d"},
               {8 * static_cast<std::int64_t>(kYear), "8y"},
               {9 * static_cast<std::int64_t>(kYear) + kDay, "9y"}};
  for (const auto& c : cases) EXPECT_EQ(age_text(seconds(c.age)), c.text) << c.age;
}

// Clocks of two machines differ a little.
TEST(AgeText, BeforeZeroIsZeroOrInvalid) {
  EXPECT_EQ(age_text(seconds(-1)), "0s");
  EXPECT_EQ(age_text(seconds(-2)), "<invalid>");
  EXPECT_EQ(age_text(seconds::min()), "<invalid>");
  EXPECT_EQ(age_text(seconds::max()),
            std::to_string(std::numeric_limits<std::int64_t>::max() / kYear) + "y");
}

}  // namespace
}  // namespace chipweave::cli
