// What the plugin knows of its pods while the API server comes and goes.
#include "node-agent/device_plugin/cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::device_plugin {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class ClusterTest : public testing::Test {
 protected:
  ClusterTest() {
    for (const char* name : {"a", "b"}) put(name);
    ClusterEvents events;
    events.pod_seen = [this](const codec::KubePod& pod) { seen_.push_back(pod.name); };
    events.pod_gone = [this](const std::string& key) { gone_.push_back(key); };
    events.list_requested = [this] { ++requested_; };
    events.pods_listed = [this] { ++listed_; };
    events.pods_stale = [this] { ++stale_; };
    cluster_.emplace(api_, "n1", false, 7, std::move(events));
    cluster_->start();
    api_.advance(seconds(1));
  }
  void put(const std::string& name) {
    api_.put(
        "/api/v1/pods/" + name,
        {{"metadata",
          {{"name", name}, {"namespace", "ns"}, {"uid", "uid-" + name}, {"resourceVersion", "1"}}},
         {"spec", {{"nodeName", "n1"}}}});
  }

  ManualClock clock_;
  agent::FakeApi api_{clock_};
  std::vector<std::string> seen_;
  std::vector<std::string> gone_;
  int requested_ = 0;
  int listed_ = 0;
  int stale_ = 0;
  std::optional<Cluster> cluster_;
};

TEST_F(ClusterTest, AShortOutageEndsWithAList) {
  ASSERT_THAT(seen_, ElementsAre("a", "b"));
  ASSERT_EQ(listed_, 1);
  api_.set_down(true);
  api_.advance(seconds(5));
  api_.set_down(false);
  api_.objects.erase("/api/v1/pods/a");
  put("c");
  api_.advance(seconds(8));
  EXPECT_EQ(listed_, 2);
  EXPECT_EQ(stale_, 0);
  EXPECT_THAT(gone_, ElementsAre("ns/a"));
  EXPECT_EQ(seen_.back(), "c");
}

TEST_F(ClusterTest, AListThatIsWantedComesSoonAndOnce) {
  ASSERT_EQ(requested_, 1);
  for (int i = 0; i < 10; ++i) {
    cluster_->list_soon();
    api_.advance(std::chrono::milliseconds(150));
  }
  EXPECT_EQ(requested_, 1);
  api_.objects.erase("/api/v1/pods/a");
  api_.advance(seconds(1));
  EXPECT_EQ(requested_, 2);
  EXPECT_EQ(listed_, 2);
  EXPECT_THAT(gone_, ElementsAre("ns/a"));
  api_.advance(seconds(30));
  EXPECT_EQ(requested_, 2);
  EXPECT_EQ(stale_, 0);
}

TEST_F(ClusterTest, ALongOutageIsToldOnceAndHeals) {
  api_.set_down(true);
  api_.advance(seconds(14));
  EXPECT_EQ(stale_, 0);
  api_.advance(seconds(2));
  EXPECT_EQ(stale_, 1);
  api_.advance(seconds(120));
  EXPECT_EQ(stale_, 1);
  EXPECT_EQ(listed_, 1);
  EXPECT_THAT(gone_, IsEmpty());
  api_.objects.erase("/api/v1/pods/b");
  api_.set_down(false);
  api_.advance(seconds(30));
  EXPECT_GE(listed_, 2);
  EXPECT_THAT(gone_, ElementsAre("ns/b"));
  api_.set_down(true);
  api_.advance(seconds(20));
  EXPECT_EQ(stale_, 2) << "the next outage";
}

}  // namespace
}  // namespace chipweave::device_plugin
