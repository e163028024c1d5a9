// Everything that a node publishes for other components, and the commands of operators, with one
// API server.
#include "node-agent/publish/node/compat_publisher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node-agent/publish/node/node_commands.hpp"
#include "node-agent/publish/node/start_sequence.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/fakes/agent/mindcluster_reader.hpp"
#include "tests/fakes/agent/profile_states.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {
namespace {

using Json = nlohmann::json;
using domain::ChipIndex;
using domain::Effect;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kNodePath = "/api/v1/nodes/n1";
const std::string kMaps = "/api/v1/namespaces/";
const std::string kDeviceInfo = kMaps + "kube-system/configmaps/mindx-dl-deviceinfo-n1";
const std::string kNodeInfo = kMaps + "mindx-dl/configmaps/mindx-dl-nodeinfo-n1";
const std::string kAck = kMaps + "kube-system/configmaps/chipweave-gpu-topology-n1";

codec::ChipSelection some(std::vector<ChipIndex> chips) { return {false, std::move(chips)}; }
const codec::ChipSelection kAll{true, {}};

class Publisher : public testing::Test {
 protected:
  Publisher() {
    api_.put(kNodePath, {{"metadata",
                          {{"name", "n1"},
                           {"uid", "u1"},
                           {"labels", Json::object()},
                           {"annotations", Json::object()}}}});
  }
  void begin(NodeState state, CompatOptions options = {}) {
    options.node = "n1";
    CompatEvents events;
    events.commands.cordon = [this](const codec::ChipSelection& chips, bool) {
      cordons_.push_back(chips);
    };
    events.commands.clear = [this](const codec::ChipSelection& chips) { clears_.push_back(chips); };
    events.commands.maintenance = [this](const auto& reason) {
      maintenance_.push_back(reason.value_or("none"));
    };
    events.write_file = [this](const std::string& path, const std::string& text) {
      ++file_tries_;
      if (!disk_works_) return Result<void>(make_error(Errc::unavailable, "disk full"));
      file_ = path + ":" + text;
      return Result<void>();
    };
    publisher_ = std::make_unique<CompatPublisher>(api_, clock_, options, std::move(events));
    want(std::move(state));
    publisher_->start();
    publisher_->publish_config_maps();
    api_.advance(seconds(2));
    // The one that says that there is none.
    if (!cordons_.empty() && cordons_.front().none()) cordons_.erase(cordons_.begin());
  }
  void want(NodeState state) {
    publisher_->want(std::make_shared<const NodeState>(std::move(state)));
  }
  void annotate(const std::string& key, const std::optional<std::string>& value) {
    Json node = api_.objects[kNodePath];
    if (value) {
      node["metadata"]["annotations"][key] = *value;
    } else {
      node["metadata"]["annotations"].erase(key);
    }
    api_.put(kNodePath, node);
    api_.advance(seconds(2));
  }
  void label(const std::string& key, const std::string& value) {
    Json node = api_.objects[kNodePath];
    node["metadata"]["labels"][key] = value;
    api_.put(kNodePath, node);
    api_.advance(seconds(2));
  }
  codec::mindcluster::DeviceInfo device_info() {
    const Json& data = api_.objects[kDeviceInfo]["data"];
    return test::device_info_in(data["DeviceInfoCfg"].get<std::string>());
  }
  bool there(const std::string& path) const { return api_.objects.contains(path); }
  Json& labels() { return api_.objects[kNodePath]["metadata"]["labels"]; }

  ManualClock clock_;
  FakeApi api_{clock_};
  std::vector<codec::ChipSelection> cordons_;
  std::vector<codec::ChipSelection> clears_;
  std::vector<std::string> maintenance_;
  std::string file_;
  int file_tries_ = 0;
  bool disk_works_ = true;
  std::unique_ptr<CompatPublisher> publisher_;
};

TEST_F(Publisher, AsksForNothingButItsNodeWhereNothingIsSwitchedOn) {
  begin(profile("ascend-910b-8"));
  api_.advance(minutes(30));
  EXPECT_EQ(labels(), Json::object());
  EXPECT_EQ(api_.objects.size(), 1U);
  for (const std::string& each : api_.log) {
    EXPECT_NE(each.find("/api/v1/nodes?"), std::string::npos) << each;
  }
}

TEST_F(Publisher, AnAscendNodePublishesForMindcluster) {
  CompatOptions options;
  options.mindcluster = true;
  begin(profile("ascend-910b-8"), options);
  EXPECT_EQ(device_info().available->size(), 8U);
  EXPECT_EQ(api_.objects[kDeviceInfo]["metadata"]["labels"]["mx-consumer-cim"], "true");
  EXPECT_EQ(api_.objects[kDeviceInfo]["data"]["ManuallySeparateNPU"], "");
  EXPECT_FALSE(there(kNodeInfo));
  EXPECT_FALSE(there(kAck));
  EXPECT_EQ(labels()["accelerator"], "huawei-Ascend910");

  publisher_->in_use({ChipIndex{0}, ChipIndex{1}});
  api_.advance(seconds(2));
  EXPECT_EQ(device_info().available, (std::vector<int>{2, 3, 4, 5, 6, 7}));

  NodeState faulty = profile("ascend-910b-8");
  faulty.faults = {fault_of(0, "node.cpu.0000001d", Effect::unusable)};
  faulty.faults[0].chip.reset();
  want(std::move(faulty));
  api_.advance(seconds(2));
  EXPECT_TRUE(there(kNodeInfo));
  want(profile("ascend-910b-8"));
  api_.advance(seconds(2));
  EXPECT_FALSE(there(kNodeInfo));

  const std::int64_t before = device_info().update_time;
  api_.advance(minutes(5));
  EXPECT_GT(device_info().update_time, before);
}

TEST_F(Publisher, OtherNodesDoNot) {
  CompatOptions options;
  options.mindcluster = true;
  begin(profile("hgx-h100-8"), options);
  EXPECT_EQ(api_.objects.size(), 1U);
  EXPECT_EQ(labels(), Json::object());
}

TEST_F(Publisher, AcksConfigMapFollowsTheNodesMode) {
  CompatOptions options;
  options.ack = true;
  begin(profile("hgx-v100-8"), options);
  EXPECT_FALSE(there(kAck));
  label("ack.node.gpu.schedule", "topology");
  ASSERT_TRUE(there(kAck));
  EXPECT_EQ(api_.objects[kAck]["metadata"]["labels"]["nodename"], "n1");
  EXPECT_EQ(Json::parse(api_.objects[kAck]["data"]["devices"].get<std::string>()).size(), 8U);
  label("ack.node.gpu.schedule", "default");
  EXPECT_FALSE(there(kAck));
  EXPECT_EQ(labels()["ack.node.gpu.schedule"], "default") << "never ours to write";
}

TEST_F(Publisher, ARestartDoesNotTakeAcksConfigMapAway) {
  CompatOptions options;
  options.ack = true;
  label("ack.node.gpu.schedule", "topology");
  begin(profile("hgx-v100-8"), options);
  const Json before = api_.objects[kAck];
  publisher_->stop();
  begin(profile("hgx-v100-8"), options);
  EXPECT_EQ(api_.objects[kAck], before);
}

TEST_F(Publisher, LabelsAreThoseThatWereRequested) {
  CompatOptions options;
  options.labels = true;
  begin(profile("hgx-h100-8"), options);
  EXPECT_EQ(labels()["chipweave.dev/topology"], "nvswitch-8");
  EXPECT_FALSE(labels().contains("nvidia.com/gpu.product"));
  publisher_->stop();
  options.labels = false;
  options.gfd_labels = true;
  begin(profile("hgx-h100-8"), options);
  EXPECT_FALSE(labels().contains("chipweave.dev/topology"));
  EXPECT_EQ(labels()["nvidia.com/gpu.product"], "H100-SXM5");
}

TEST_F(Publisher, ACordonIsReportedOnceAndKeptThroughInvalidValues) {
  begin(profile("hgx-h100-8"));
  EXPECT_THAT(cordons_, IsEmpty());
  annotate(kCordonAnnotation, "3,5");
  annotate("else", "1");
  EXPECT_THAT(cordons_, ElementsAre(some({{3}, {5}})));
  annotate(kCordonAnnotation, "3,five");
  EXPECT_EQ(cordons_.size(), 1U);
  annotate(kCordonAnnotation, "*");
  annotate(kCordonAnnotation, "1,99");
  annotate(kCordonAnnotation, std::nullopt);
  EXPECT_THAT(cordons_, ElementsAre(some({{3}, {5}}), kAll, some({{1}}), some({})));
}

TEST_F(Publisher, ACordonIsKnownAtTheStart) {
  annotate(kCordonAnnotation, "2");
  begin(profile("hgx-h100-8"));
  EXPECT_THAT(cordons_, ElementsAre(some({{2}})));
}

TEST_F(Publisher, MindclustersListCountsToo) {
  CompatOptions options;
  options.mindcluster = true;
  begin(profile("ascend-910b-8"), options);
  const auto people_write = [&](const std::string& text) {
    api_.objects[kDeviceInfo]["data"]["ManuallySeparateNPU"] = text;
    api_.put(kDeviceInfo, api_.objects[kDeviceInfo]);
    api_.advance(seconds(62));
  };
  people_write("Ascend910-3");
  annotate(kCordonAnnotation, "5");
  EXPECT_THAT(cordons_, ElementsAre(some({{3}}), some({{3}, {5}})));
  people_write("three");
  EXPECT_EQ(cordons_.size(), 2U) << "the last valid list";
  people_write("");
  EXPECT_EQ(cordons_.back(), some({{5}}));
}

TEST_F(Publisher, ACordonMayChangeTheStateAtOnce) {
  CompatOptions options;
  options.mindcluster = true;
  begin(profile("ascend-910b-8"), options);
  auto agent = [this] {
    NodeState state = profile("ascend-910b-8");
    state.faults = {fault_of(2, "cordoned", Effect::unusable)};
    want(std::move(state));
  };
  cordons_.clear();
  publisher_->stop();
  CompatEvents events;
  events.commands.cordon = [&](const codec::ChipSelection& chips, bool) {
    if (!chips.none()) agent();
  };
  options.node = "n1";
  publisher_ = std::make_unique<CompatPublisher>(api_, clock_, options, std::move(events));
  want(profile("ascend-910b-8"));
  publisher_->start();
  publisher_->publish_config_maps();
  annotate(kCordonAnnotation, "2");
  ASSERT_EQ(device_info().faults.size(), 1U);
  EXPECT_EQ(device_info().faults[0].level, "ManuallySeparateNPU");
}

// A restarted agent must not offer chips that operators have taken out of service.
class NewPublisher : public Publisher {
 protected:
  void make() {
    CompatOptions options;
    options.node = "n1";
    options.mindcluster = true;
    CompatEvents events;
    events.commands.cordon = [this](const codec::ChipSelection& chips, bool complete) {
      cordons_.push_back(chips);
      complete_ = complete;
    };
    events.node_known = [this] { start_.learn(StartSequence::Fact::node); };
    events.list_known = [this] { start_.learn(StartSequence::Fact::list); };
    publisher_ = std::make_unique<CompatPublisher>(api_, clock_, options, std::move(events));
    want(profile("ascend-910b-8"));
    start_.learn(StartSequence::Fact::machine);
  }
  void enter(StartSequence::Stage stage) {
    if (stage == StartSequence::Stage::asking) publisher_->start();
    if (stage == StartSequence::Stage::publishing) publisher_->publish_config_maps();
    if (stage != StartSequence::Stage::reporting) return;
    ++heard_;
    known_then_ = cordons_;
  }
  StartSequence start_{
      api_, {StartSequence::Fact::in_use}, [this](StartSequence::Stage stage) { enter(stage); }};
  bool complete_ = false;
  int heard_ = 0;
  std::vector<codec::ChipSelection> known_then_;
};

TEST_F(NewPublisher, ReadsCommandsBeforeItPublishes) {
  annotate(kCordonAnnotation, "2");
  api_.put(kDeviceInfo,
           {{"metadata", {{"uid", "u2"}, {"labels", Json::object()}}},
            {"data", {{"ManuallySeparateNPU", "Ascend910-5"}, {"DeviceInfoCfg", "before"}}}});
  make();
  api_.advance(milliseconds(100));
  EXPECT_EQ(heard_, 1);
  ASSERT_FALSE(known_then_.empty());
  EXPECT_EQ(known_then_.back(), some({ChipIndex{2}, ChipIndex{5}}));
  want(profile("ascend-910b-8"));
  api_.advance(seconds(5));
  EXPECT_EQ(api_.objects[kDeviceInfo]["data"]["DeviceInfoCfg"], "before");

  start_.learn(StartSequence::Fact::inventory);
  api_.advance(milliseconds(100));
  EXPECT_EQ(device_info().available->size(), 8U);
  api_.advance(minutes(1));
  EXPECT_EQ(heard_, 1);
}

TEST_F(NewPublisher, DoesNotListenForEver) {
  api_.unanswered = "/api/v1/nodes";
  make();
  api_.advance(milliseconds(1'900));
  EXPECT_EQ(heard_, 0);
  api_.advance(milliseconds(200));
  EXPECT_EQ(heard_, 1);
  api_.advance(milliseconds(9'700));
  EXPECT_FALSE(there(kDeviceInfo));
  api_.advance(milliseconds(400));
  EXPECT_TRUE(there(kDeviceInfo)) << "the inventory is rejected, but publishing continues";
}

TEST_F(NewPublisher, AMissingNodeHasNoCommands) {
  api_.objects.erase(kNodePath);
  make();
  api_.advance(milliseconds(100));
  EXPECT_EQ(heard_, 1);
}

TEST_F(NewPublisher, StoppedItHearsNothing) {
  api_.unanswered = "/api/v1/nodes";
  make();
  start_.stop();
  publisher_->stop();
  api_.advance(minutes(1));
  EXPECT_EQ(heard_, 0);
  EXPECT_EQ(api_.in_flight(), 0U);
}

// What is read is complete only with the last source: until then the orders of the previous run
// stay in force.
TEST_F(NewPublisher, SaysWhetherAllOrdersWereRead) {
  annotate(kCordonAnnotation, "2");
  api_.unanswered = "configmaps";
  make();
  api_.advance(seconds(3));
  EXPECT_THAT(cordons_, ElementsAre(some({ChipIndex{2}})));
  EXPECT_FALSE(complete_);
  api_.unanswered.clear();
  api_.advance(seconds(1));
  EXPECT_EQ(cordons_.back(), some({ChipIndex{2}}));
  EXPECT_TRUE(complete_);
}

TEST_F(Publisher, AMaintenanceIsAnAnnotation) {
  begin(profile("hgx-h100-8"));
  EXPECT_THAT(maintenance_, ElementsAre("none"));
  annotate(kMaintenanceAnnotation, "new driver");
  annotate(kMaintenanceAnnotation, "");
  annotate(kMaintenanceAnnotation, std::nullopt);
  EXPECT_THAT(maintenance_,
              ElementsAre("none", "new driver", "annotation chipweave.dev/maintenance", "none"));
}

TEST_F(Publisher, ADrainedNodeIsInMaintenance) {
  CompatOptions options;
  options.in_use = true;
  const auto unschedulable = [this](bool yes) {
    Json node = api_.objects[kNodePath];
    node["spec"]["unschedulable"] = yes;
    api_.put(kNodePath, node);
    api_.advance(seconds(1));
  };
  unschedulable(true);
  begin(profile("hgx-h100-8"), options);
  EXPECT_THAT(maintenance_, IsEmpty()) << "it is not known whether pods use its chips";
  publisher_->in_use({ChipIndex{1}});
  publisher_->in_use({});
  unschedulable(false);
  EXPECT_THAT(maintenance_, ElementsAre("none", testing::HasSubstr("drained"), "none"));
}

TEST_F(Publisher, AnUnschedulableNodeWithUnknownPodsIsNotDrained) {
  CompatOptions options;
  options.in_use = true;
  Json node = api_.objects[kNodePath];
  node["spec"]["unschedulable"] = true;
  api_.put(kNodePath, node);
  begin(profile("hgx-h100-8"), options);
  publisher_->in_use_unknown();
  EXPECT_THAT(maintenance_, ElementsAre("none"));
}

TEST_F(Publisher, FaultsAreClearedOncePerCommand) {
  begin(profile("hgx-h100-8"));
  annotate(kClearAnnotation, "3");
  EXPECT_THAT(clears_, ElementsAre(some({{3}})));
  EXPECT_FALSE(api_.objects[kNodePath]["metadata"]["annotations"].contains(kClearAnnotation));
  annotate(kClearAnnotation, "3");
  annotate(kClearAnnotation, "*");
  EXPECT_THAT(clears_, ElementsAre(some({{3}}), some({{3}}), kAll));
  annotate(kClearAnnotation, "all");
  EXPECT_EQ(clears_.size(), 3U);
  EXPECT_EQ(api_.objects[kNodePath]["metadata"]["annotations"][kClearAnnotation], "all")
      << "an unparsable command is left for its author";
}

TEST_F(Publisher, AClearThatCannotBeRemovedIsNotRepeated) {
  begin(profile("hgx-h100-8"));
  api_.unanswered = "nodes/n1";
  annotate(kClearAnnotation, "3");
  annotate("else", "1");
  annotate("else", "2");
  EXPECT_EQ(clears_.size(), 1U);
}

TEST_F(Publisher, TheFeatureFileIsWrittenOnChangeAndTriedAgain) {
  CompatOptions options;
  options.nfd_file = "/features.d/chipweave";
  disk_works_ = false;
  begin(profile("hgx-h100-8"), options);
  EXPECT_EQ(file_tries_, 1);
  disk_works_ = true;
  api_.advance(seconds(60));
  EXPECT_EQ(file_,
            "/features.d/chipweave:chipweave.dev/chips=8\n"
            "chipweave.dev/topology=nvswitch-8\nchipweave.dev/vendor=nvidia\n");
  want(profile("hgx-h100-8"));
  api_.advance(minutes(10));
  EXPECT_EQ(file_tries_, 2);
  want(profile("hgx-a100-4"));
  EXPECT_EQ(file_tries_, 3);
}

TEST_F(Publisher, ASlowConfigMapHoldsUpNoLabel) {
  CompatOptions options;
  options.mindcluster = true;
  api_.unanswered = "configmaps";
  begin(profile("ascend-910b-8"), options);
  EXPECT_EQ(labels()["accelerator"], "huawei-Ascend910");
}

TEST_F(Publisher, AfterTheStopAllIsQuietAndEverythingStays) {
  CompatOptions options;
  options.mindcluster = options.ack = options.labels = true;
  begin(profile("ascend-a3-16"), options);
  publisher_->stop();
  const auto before = api_.objects;
  api_.log.clear();
  api_.advance(minutes(60));
  EXPECT_THAT(api_.log, IsEmpty());
  EXPECT_EQ(api_.objects, before);
  EXPECT_EQ(api_.in_flight(), 0U);
}

}  // namespace
}  // namespace chipweave::agent
