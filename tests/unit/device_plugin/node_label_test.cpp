// What the plugin knows of its Node's label while the API server comes and goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node-agent/device_plugin/cluster.hpp"
#include "node-agent/device_plugin/core/ack_label.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::device_plugin {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class NodeLabel : public testing::Test {
 protected:
  using Labels = std::map<std::string, std::string>;
  void begin() {
    ClusterEvents events;
    events.pod_seen = [](const codec::KubePod&) {};
    events.pod_gone = [](const std::string&) {};
    events.list_requested = [] {};
    events.pods_listed = [] {};
    events.pods_stale = [] {};
    events.node_label = [this](const std::optional<std::string>& value) {
      seen_.push_back(value.value_or("none"));
    };
    cluster_.emplace(api_, "n1", false, 7, std::move(events));
    cluster_->start();
    api_.advance(seconds(1));
  }
  void put(const std::string& node, const Labels& labels) {
    api_.put(
        "/api/v1/nodes/" + node,
        {{"metadata",
          {{"name", node}, {"uid", "uid-" + node}, {"resourceVersion", "1"}, {"labels", labels}}}});
    api_.advance(seconds(1));
  }

  ManualClock clock_;
  agent::FakeApi api_{clock_};
  std::vector<std::string> seen_;
  std::optional<Cluster> cluster_;
};

TEST_F(NodeLabel, IsThatOfItsOwnNode) {
  put("n0", {{kAckLabel, "share"}});
  put("n1", {{"other", "x"}});
  begin();
  EXPECT_THAT(seen_, ElementsAre("none"));
  put("n0", {{kAckLabel, "topology"}});
  put("n1", {{kAckLabel, "topology"}});
  put("n1", {});
  EXPECT_THAT(seen_, ElementsAre("none", "topology", "none"));
  EXPECT_THAT(api_.log, testing::Contains(testing::HasSubstr("metadata.name%3Dn1")));
}

TEST_F(NodeLabel, IsNotKnownWhileTheApiServerIsAway) {
  put("n1", {{kAckLabel, "topology"}});
  api_.set_down(true);
  begin();
  api_.advance(seconds(120));
  EXPECT_THAT(seen_, IsEmpty());
  api_.set_down(false);
  api_.advance(seconds(120));
  EXPECT_THAT(seen_, Not(IsEmpty()));
  EXPECT_EQ(seen_.back(), "topology");
}

TEST_F(NodeLabel, StaysThroughAnOutage) {
  put("n1", {{kAckLabel, "topology"}});
  begin();
  ASSERT_THAT(seen_, ElementsAre("topology"));
  api_.set_down(true);
  api_.advance(seconds(120));
  EXPECT_THAT(seen_, ElementsAre("topology"));
  api_.set_down(false);
  api_.advance(seconds(120));
  put("n1", {{kAckLabel, "default"}});
  EXPECT_EQ(seen_.back(), "default");
}

TEST_F(NodeLabel, StaysWhenTheNodeIsDeleted) {
  put("n1", {{kAckLabel, "topology"}});
  begin();
  api_.objects.erase("/api/v1/nodes/n1");
  api_.set_down(true);
  api_.advance(seconds(10));
  api_.set_down(false);
  api_.advance(seconds(120));
  EXPECT_THAT(seen_, ElementsAre("topology"));
}

}  // namespace
}  // namespace chipweave::device_plugin
