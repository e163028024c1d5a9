// The waits between tries: how they grow, and their random part.
#include "common/base/backoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace chipweave {
namespace {

TEST(Backoff, DoublesWithinItsBoundsAndStartsAfreshAfterSuccess) {
  using Ms = Backoff::Ms;
  Backoff backoff({Ms(100), Ms(5000)}, Backoff::seeded(42));
  Ms step(100);
  for (int i = 0; i < 20; ++i) {
    const Ms wait = backoff.next();
    EXPECT_GE(wait, step / 2) << i;
    EXPECT_LE(wait, step) << i;
    step = std::min(Ms(5000), step * 2);
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), Ms(100));
}

TEST(Backoff, WithoutJitterItDoublesExactlyAndNeverFallsBelowWhatTheServerAskedFor) {
  using Ms = Backoff::Ms;
  Backoff backoff({Ms(100), Ms(350), 0});
  EXPECT_EQ(backoff.next(), Ms(100));
  EXPECT_EQ(backoff.next(Ms(150)), Ms(200));
  EXPECT_EQ(backoff.next(Ms(5000)), Ms(5000));
  EXPECT_EQ(backoff.next(), Ms(350));
  backoff.reset();
  EXPECT_EQ(backoff.next(), Ms(100));
}

TEST(Backoff, FullJitterReachesFromNothingToTheWholeWait) {
  using Ms = Backoff::Ms;
  double random = 0;
  Backoff backoff({Ms(100), Ms(1000), 1}, [&random] { return random; });
  EXPECT_EQ(backoff.next(), Ms(0));
  random = 0.5;
  EXPECT_EQ(backoff.next(), Ms(100));
  random = 1;
  EXPECT_EQ(backoff.next(), Ms(400));
}

TEST(Backoff, DiffersBetweenAgents) {
  using Ms = Backoff::Ms;
  std::set<Ms::rep> waits;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    waits.insert(Backoff({Ms(5000), Ms(5000)}, Backoff::seeded(seed)).next().count());
  EXPECT_GT(waits.size(), 25U);
}

}  // namespace
}  // namespace chipweave
