#include "common/base/result.hpp"

#include <gtest/gtest.h>

#include "common/base/clock.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return make_error(Errc::invalid_argument, "odd");
  return x / 2;
}

TEST(Result, CarriesValueOrError) {
  EXPECT_EQ(half(4).value(), 2);
  const Result<int> odd = half(3);
  ASSERT_FALSE(odd.ok());
  EXPECT_EQ(odd.error().code, Errc::invalid_argument);
}

TEST(Result, AndThenStopsAtTheFirstError) {
  EXPECT_EQ(half(8).and_then(half).value(), 2);
  EXPECT_EQ(half(6).and_then(half).error().message, "odd");
}

TEST(Result, TransformKeepsTheError) {
  EXPECT_EQ(half(8).transform([](int x) { return x + 1; }).value(), 5);
  EXPECT_FALSE(half(5).transform([](int x) { return x + 1; }).ok());
}

TEST(Error, TextReadsFromOutsideIn) {
  const Error e =
      make_error(Errc::invalid_argument, "negative").in("links[3].lanes").in("file a.json");
  EXPECT_EQ(e.text(), "file a.json: links[3].lanes: negative");
}

TEST(Clock, PrintsRfc3339) {
  const ManualClock clock;
  EXPECT_EQ(rfc3339(clock.wall()), "2026-01-02T03:04:05Z");
}

}  // namespace
}  // namespace chipweave
