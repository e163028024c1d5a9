#include "node-agent/kubelet/list_pace.hpp"

#include <gtest/gtest.h>

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Pacing : public testing::Test {
 protected:
  ListPace::Time at(seconds time) const { return begin_ + time; }
  // Seconds from the begin.
  double due() const { return std::chrono::duration<double>(pace_.due() - begin_).count(); }

  ListPace::Time begin_ = ListPace::Time(std::chrono::hours(1000));
  double random_ = 0;
  ListPace pace_{{}, [this] { return random_; }, begin_};
};

TEST_F(Pacing, TheFirstRequestWaitsUntilTheStartHasSettled) {
  EXPECT_EQ(due(), 2);
  pace_.changed(at(seconds(1)));
  EXPECT_EQ(due(), 3);
}

TEST_F(Pacing, WithoutAChangeItIsRare) {
  pace_.asked(at(seconds(2)));
  EXPECT_EQ(due(), 62);
  random_ = 1;
  pace_.asked(at(seconds(2)));
  EXPECT_EQ(due(), 47);
}

TEST_F(Pacing, AChangeIsAskedAboutWhenItHasSettled) {
  pace_.asked(at(seconds(2)));
  pace_.changed(at(seconds(30)));
  EXPECT_EQ(due(), 32);
  pace_.changed(at(seconds(31)));
  EXPECT_EQ(due(), 33) << "settled means nothing for two seconds";
}

TEST_F(Pacing, NeverTwiceInTenSeconds) {
  pace_.asked(at(seconds(2)));
  pace_.changed(at(seconds(3)));
  EXPECT_EQ(due(), 12);
  pace_.changed(at(seconds(11)));
  EXPECT_EQ(due(), 13);
}

TEST_F(Pacing, AChangeDuringARequestIsAskedAboutAgain) {
  pace_.asked(at(seconds(2)));
  pace_.changed(at(seconds(2)));
  EXPECT_EQ(due(), 12);
  pace_.asked(at(seconds(12)));
  EXPECT_EQ(due(), 72) << "and then it is known";
}

// Also that request may have reached the kubelet.
TEST_F(Pacing, AFailureIsRepeatedAfterTenSeconds) {
  pace_.asked(at(seconds(2)));
  pace_.failed();
  EXPECT_EQ(due(), 12);
}

// Whatever changes whenever: no request sooner than 2 s after a change or 10 s after another.
TEST_F(Pacing, HoldsForAnySeriesOfChanges) {
  std::uint64_t seed = 1;
  const Backoff::Random random = Backoff::seeded(seed);
  ListPace::Time now = begin_;
  ListPace::Time changed = begin_;
  ListPace::Time asked = ListPace::Time::min();
  int requests = 0;
  for (int step = 0; step < 200'000; ++step) {
    now += milliseconds(100);
    if (random() < 0.01) {
      pace_.changed(now);
      changed = now;
    }
    if (pace_.due() > now) continue;
    EXPECT_GE(now - changed, seconds(2));
    if (requests++ > 0) {
      EXPECT_GE(now - asked, seconds(10));
      EXPECT_LE(now - asked, seconds(90));
    }
    asked = now;
    pace_.asked(now);
    if (random() < 0.1) pace_.failed();
  }
  EXPECT_GT(requests, 300);
}

}  // namespace
}  // namespace chipweave::agent
