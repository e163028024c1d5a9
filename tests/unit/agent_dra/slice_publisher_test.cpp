// ResourceSlices over an API server that fails, loses answers and drops fields.
#include "node-agent/dra/slices/slice_publisher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <nlohmann/json.hpp>

#include "common/obs/log.hpp"
#include "tests/unit/agent_dra/machine.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::agent::dra {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

const std::string kSlices = "/apis/resource.k8s.io/v1/resourceslices";

// The API server's slices of one node.
class SliceServer {
 public:
  kube::Reply answer(const std::string& target, const std::string& body) {
    if (target == "/api/v1/nodes/n1") return shown(200, node);
    if (target == kSlices + "?fieldSelector=spec.nodeName%3Dn1") {
      if (old) return shown(404, {{"kind", "Status"}, {"code", 404}});
      Json items = Json::array();
      for (const auto& [name, slice] : slices) items.push_back(slice);
      return shown(200, {{"metadata", {{"resourceVersion", "1"}}}, {"items", items}});
    }
    ++writes;
    if (forbidden) return shown(403, {{"kind", "Status"}, {"code", 403}, {"message", "no right"}});
    const std::size_t space = target.find(' ');
    const std::string method = target.substr(0, space);
    if (method == "POST") {
      Json slice = Json::parse(body);
      const std::string name = slice["metadata"]["name"];
      if (slices.contains(name)) return shown(409, {{"kind", "Status"}, {"code", 409}});
      slice["metadata"]["uid"] = "u" + std::to_string(++version_);
      return stored(name, slice, 201);
    }
    const std::string name = target.substr(target.rfind('/') + 1);
    if (!slices.contains(name)) return shown(404, {{"kind", "Status"}, {"code", 404}});
    const Json given = Json::parse(body);
    const Json& metadata = method == "PUT" ? given["metadata"] : given["preconditions"];
    if (metadata["resourceVersion"] != slices[name]["metadata"]["resourceVersion"])
      return shown(409, {{"kind", "Status"}, {"code", 409}});
    if (method == "PUT") return stored(name, given, 200);
    slices.erase(name);
    return shown(200, Json::object());
  }

  Json node = Json::parse(R"({"metadata":{"uid":"node-uid"},"status":{"allocatable":{}}})");
  std::map<std::string, Json> slices;
  bool no_taints = false;  // feature gate off
  bool old = false;        // before 1.34
  bool forbidden = false;
  int writes = 0;

 private:
  static kube::Reply shown(int status, const Json& body) {
    return {status, body.dump(), std::nullopt};
  }
  kube::Reply stored(const std::string& name, Json slice, int status) {
    slice["metadata"]["resourceVersion"] = std::to_string(++version_);
    for (Json& device : slice["spec"]["devices"]) {
      if (no_taints) device.erase("taints");
      if (!device.contains("taints")) continue;
      for (Json& taint : device["taints"])
        if (!taint.contains("timeAdded")) taint["timeAdded"] = "2026-01-02T03:04:05Z";
    }
    slices[name] = slice;
    return shown(status, slice);
  }
  int version_ = 0;
};

const std::string kOwn = "n1-gpu.chipweave.dev-0";

class SlicePublisherTest : public testing::Test {
 protected:
  SlicePublisherTest() { begin(); }
  void begin() {
    SlicePublisher::Options options;
    options.pool = {kDriver, kNode, true, false};
    options.watch = false;
    publisher_ = std::make_unique<SlicePublisher>(
        transport_, host_, options,
        SlicePublisher::Events{[this](const std::string& why) { conflict_ = why; },
                               [this](bool yes) { works_ = yes; }});
  }
  void want(const NodeState& state) { publisher_->want(std::make_shared<const NodeState>(state)); }
  bool resting() const {
    return transport_.on_time && transport_.waiting >= SlicePublisher::Ms(30'000);
  }
  // One answer, or one short wait. False: it rests.
  bool step() {
    if (resting()) return false;
    if (transport_.on_time) {
      transport_.pass_time();
      return true;
    }
    const auto reply = server_.answer(transport_.target, transport_.body);
    transport_.reply(reply.status, reply.body);
    return true;
  }
  void run() {
    for (int i = 0; i < 200 && step(); ++i) {
    }
    EXPECT_TRUE(resting()) << transport_.target;
  }
  void check_again() {
    transport_.pass_time();
    run();
  }

  kube::ScriptedTransport transport_;
  FakeHost host_;
  SliceServer server_;
  std::optional<std::string> conflict_;
  bool works_ = false;
  std::unique_ptr<SlicePublisher> publisher_;
};

TEST_F(SlicePublisherTest, PublishesOnceAndThenOnlyChanges) {
  want(two_islands());
  run();
  ASSERT_TRUE(server_.slices.contains(kOwn));
  EXPECT_EQ(server_.slices[kOwn]["metadata"]["ownerReferences"][0]["uid"], "node-uid");
  EXPECT_EQ(server_.writes, 1);
  EXPECT_TRUE(works_);
  check_again();
  want(two_islands());
  run();
  EXPECT_EQ(server_.writes, 1);
  want(two_islands({5}));
  run();
  EXPECT_EQ(server_.writes, 2);
  EXPECT_EQ(server_.slices[kOwn]["spec"]["pool"]["generation"], 2);
  begin();  // the agent restarts
  want(two_islands({5}));
  run();
  EXPECT_EQ(server_.writes, 2);
}

TEST_F(SlicePublisherTest, RestoresWhatOthersDeleteOrChange) {
  want(two_islands());
  run();
  server_.slices.clear();  // the kubelet does so when it restarts
  check_again();
  ASSERT_TRUE(server_.slices.contains(kOwn));
  server_.slices[kOwn]["spec"]["devices"].erase(0);
  server_.slices[kOwn]["metadata"]["resourceVersion"] = "changed";
  check_again();
  EXPECT_EQ(server_.slices[kOwn]["spec"]["devices"].size(), 8U);
  server_.slices["old-name"] = server_.slices[kOwn];
  server_.slices["old-name"]["metadata"]["name"] = "old-name";
  check_again();
  EXPECT_EQ(server_.slices.size(), 1U);
}

TEST_F(SlicePublisherTest, OffersNothingBesideAnotherDriver) {
  want(two_islands());
  run();
  EXPECT_EQ(conflict_, "");
  server_.slices["theirs"] = Json::parse(
      R"({"metadata":{"name":"theirs","uid":"t","resourceVersion":"t"},"spec":{"driver":"gpu.nvidia.com","nodeName":"n1","pool":{"name":"n1","generation":1,"resourceSliceCount":1},"devices":[{"name":"gpu-0"}]}})");
  check_again();
  EXPECT_THAT(*conflict_, HasSubstr("gpu.nvidia.com"));
  EXPECT_EQ(server_.slices.size(), 1U);
  EXPECT_TRUE(server_.slices.contains("theirs"));
  server_.slices.clear();
  server_.node["status"]["allocatable"]["nvidia.com/gpu"] = "8";
  check_again();
  EXPECT_THAT(*conflict_, HasSubstr("device plugin"));
  EXPECT_TRUE(server_.slices.empty());
  server_.node["status"]["allocatable"]["nvidia.com/gpu"] = "0";
  check_again();
  EXPECT_EQ(conflict_, "");
  EXPECT_TRUE(server_.slices.contains(kOwn));
}

TEST_F(SlicePublisherTest, LivesWithoutTaintsAndTriesThemAgain) {
  server_.no_taints = true;
  want(two_islands());
  run();
  EXPECT_EQ(server_.writes, 1);
  check_again();
  EXPECT_EQ(server_.writes, 1);
  EXPECT_TRUE(works_);
  server_.no_taints = false;  // the API server is upgraded
  for (int minutes = 0; minutes < 61; ++minutes) check_again();
  EXPECT_EQ(server_.slices[kOwn]["spec"]["devices"][0]["taints"][0]["key"],
            "chipweave.dev/managed");
}

TEST_F(SlicePublisherTest, ARefusalIsTriedAgainLater) {
  server_.forbidden = true;
  want(two_islands());
  run();
  EXPECT_FALSE(works_);
  EXPECT_EQ(server_.writes, 1);
  server_.forbidden = false;
  check_again();
  EXPECT_TRUE(works_);
  server_.old = true;
  check_again();
  EXPECT_FALSE(works_);
}

TEST_F(SlicePublisherTest, HealsWhateverAnswersAreLost) {
  obs::set_level("error");  // each loss is a line
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    server_ = SliceServer();
    begin();
    std::set<int> unhealthy;
    want(two_islands());
    for (int i = 0; i < 25; ++i) {
      if (random() % 6 == 0) {
        unhealthy = {static_cast<int>(random() % 8)};
        want(two_islands(unhealthy));
      } else if (random() % 10 == 0) {
        begin();
        want(two_islands(unhealthy));
      } else if (transport_.on_time) {
        transport_.pass_time();
      } else if (random() % 4 == 0) {
        if (random() % 2 == 0) server_.answer(transport_.target, transport_.body);
        random() % 2 == 0 ? transport_.fail(Errc::unavailable, "cut")
                          : transport_.reply(503, "busy");
      } else {
        step();
      }
    }
    run();
    if (!works_) check_again();
    ASSERT_EQ(server_.slices.size(), 1U);
    const Json& devices = server_.slices[kOwn]["spec"]["devices"];
    ASSERT_EQ(devices.size(), 8U);
    for (int i = 0; i < 8; ++i)
      ASSERT_EQ(devices[static_cast<std::size_t>(i)]["taints"].size(),
                unhealthy.contains(i) ? 2U : 1U);
  }
}

}  // namespace
}  // namespace chipweave::agent::dra
