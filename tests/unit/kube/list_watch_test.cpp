// The state machine of list and watch: its next request after each kind of result.
#include "common/kube/list_watch.hpp"

#include <gtest/gtest.h>

namespace chipweave::kube {
namespace {

using codec::KubeStatus;
using codec::WatchKind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = WatchRequest::Kind;

class Machine : public testing::Test {
 protected:
  static ListWatch::Options listing() {
    ListWatch::Options options;
    options.streaming = false;
    return options;
  }
  std::optional<WatchRequest> bookmark(ListWatch& m, const std::string& version, bool end = false) {
    return m.event(WatchKind::bookmark, version, end, {});
  }
  std::optional<WatchRequest> added(ListWatch& m, const std::string& version) {
    return m.event(WatchKind::added, version, false, {});
  }
  // Runs through its first streaming list.
  void sync(ListWatch& m) {
    m.start();
    added(m, "5");
    bookmark(m, "7", true);
    ASSERT_TRUE(m.synced());
  }
  double jitter_ = 1;
  ListWatch machine_{ListWatch::Options{}, [this] { return jitter_; }};
  ListWatch lister_{listing(), [this] { return jitter_; }};
};

TEST_F(Machine, StreamsTheListAndGoesOnFromWhereItEnded) {
  const WatchRequest first = machine_.start();
  EXPECT_EQ(first.kind, Kind::watch);
  EXPECT_TRUE(first.initial_events);
  EXPECT_FALSE(added(machine_, "5"));
  EXPECT_FALSE(bookmark(machine_, "6"));
  EXPECT_FALSE(machine_.synced());
  EXPECT_FALSE(bookmark(machine_, "7", true));
  EXPECT_TRUE(machine_.synced());
  EXPECT_EQ(machine_.complete(), machine_.round());
  EXPECT_FALSE(added(machine_, "9"));
  const WatchRequest next = machine_.ended(seconds(300));
  EXPECT_EQ(next.kind, Kind::watch);
  EXPECT_FALSE(next.initial_events);
  EXPECT_EQ(next.resource_version, "9");
}

TEST_F(Machine, ListsPageByPageThenWatches) {
  WatchRequest r = lister_.start();
  EXPECT_EQ(r.kind, Kind::list);
  EXPECT_EQ(r.resource_version, "") << "the latest version, not a cached one";
  r = lister_.page("11", "more");
  EXPECT_EQ(r.kind, Kind::list);
  EXPECT_EQ(r.next, "more");
  EXPECT_EQ(r.resource_version, "") << "a continuation has the version of its first page";
  EXPECT_FALSE(lister_.synced());
  r = lister_.page("11", "");
  EXPECT_TRUE(lister_.synced());
  EXPECT_EQ(r.kind, Kind::watch);
  EXPECT_EQ(r.resource_version, "11");
}

TEST_F(Machine, AServerWithoutStreamingListsIsListed) {
  for (const int status : {400, 422, 500}) {
    ListWatch m(ListWatch::Options{}, [] { return 1.0; });
    m.start();
    WatchRequest r = m.failed({status, "", {}}, milliseconds(3));
    EXPECT_EQ(r.kind, Kind::list) << status;
    m.page("4", "");
    r = m.failed({410, "", {}}, seconds(5));  // and streaming is not tried again
    EXPECT_EQ(r.kind, Kind::list) << status;
    EXPECT_EQ(r.resource_version, "")
        << "a version that has expired must not be listed from the cache";
  }
  // etcd 3.4: 200, then an error event
  machine_.start();
  const auto r = machine_.event(WatchKind::error, "", false, {500, "InternalError", "disabled"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->kind, Kind::list);
}

TEST_F(Machine, AVersionThatIsGoneMeansListingAgainOnceAtOnce) {
  sync(machine_);
  const std::uint64_t before = machine_.round();
  auto r = machine_.event(WatchKind::error, "", false, {410, "Expired", "too old"});
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->initial_events);
  EXPECT_GT(machine_.round(), before);
  EXPECT_LT(machine_.complete(), machine_.round()) << "nothing may be removed before the list ends";
  EXPECT_TRUE(machine_.synced()) << "the last version stays in use";
  r = machine_.event(WatchKind::error, "", false, {410, "Expired", "too old"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->kind, Kind::wait);
  EXPECT_TRUE(machine_.waited().initial_events);
}

TEST_F(Machine, FailuresAreWaitedOutLongerAndLonger) {
  sync(machine_);
  for (const int expected : {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}) {
    const WatchRequest r = machine_.failed({0, "cut", {}}, milliseconds(10));
    EXPECT_EQ(r.kind, Kind::wait);
    EXPECT_EQ(r.delay.count(), expected);
    const WatchRequest next = machine_.waited();
    EXPECT_EQ(next.kind, Kind::watch) << "an interrupted watch continues";
    EXPECT_EQ(next.resource_version, "7");
  }
  EXPECT_EQ(machine_.failed({0, "cut", {}}, seconds(121)).delay.count(), 800);
  jitter_ = 0.25;
  EXPECT_EQ(machine_.failed({0, "cut", {}}, milliseconds(0)).delay.count(), 400);
}

TEST_F(Machine, TheServerSaysHowLongToWait) {
  sync(machine_);
  jitter_ = 0;
  EXPECT_EQ(machine_.failed({429, "", seconds(7)}, milliseconds(0)).delay, seconds(7));
  EXPECT_EQ(machine_.waited().resource_version, "7");
}

TEST_F(Machine, RefusedWatchesAreListedAnew) {
  for (const int status : {401, 403, 404}) {
    ListWatch m(ListWatch::Options{}, [] { return 1.0; });
    sync(m);
    EXPECT_EQ(m.failed({status, "", {}}, milliseconds(0)).kind, Kind::wait);
    EXPECT_TRUE(m.waited().initial_events) << status;
  }
}

TEST_F(Machine, AListThatIsCutBeginsAnew) {
  machine_.start();
  added(machine_, "5");
  EXPECT_EQ(machine_.failed({0, "cut", {}}, milliseconds(5)).kind, Kind::wait);
  EXPECT_TRUE(machine_.waited().initial_events);
  added(machine_, "5");
  EXPECT_EQ(machine_.ended(seconds(5)).kind, Kind::wait)
      << "a regular end of the watch does not complete the list";
  EXPECT_TRUE(machine_.waited().initial_events);
  EXPECT_FALSE(machine_.synced());

  lister_.start();
  lister_.page("4", "more");
  EXPECT_EQ(lister_.failed({503, "", {}}, milliseconds(5)).kind, Kind::wait);
  const WatchRequest r = lister_.waited();
  EXPECT_EQ(r.kind, Kind::list);
  EXPECT_EQ(r.next, "");
}

TEST_F(Machine, WatchesThatEndAtOnceAreNotRepeatedAtOnce) {
  sync(machine_);
  EXPECT_EQ(machine_.ended(seconds(2)).kind, Kind::watch);
  EXPECT_EQ(machine_.ended(milliseconds(20)).kind, Kind::wait);
  EXPECT_EQ(machine_.waited().resource_version, "7");
  added(machine_, "8");
  EXPECT_EQ(machine_.ended(milliseconds(20)).kind, Kind::watch) << "it delivered an event";
}

}  // namespace
}  // namespace chipweave::kube
