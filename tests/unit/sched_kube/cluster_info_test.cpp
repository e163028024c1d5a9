#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/cluster_info/publisher.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/fakes/agent/mindcluster_reader.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/support/paths.hpp"

namespace chipweave::sched {
namespace {

namespace mc = codec::mindcluster;
using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kMaps = "/api/v1/namespaces/mindx-dl/configmaps/";
const std::string kDevices = kMaps + "cluster-info-device-0";

class ClusterInfo : public testing::Test {
 protected:
  void report(const std::string& name, const std::string& machine,
              std::vector<ChipChange> chips = {}) {
    const auto* profile = profiles::find(machine);
    ASSERT_NE(profile, nullptr) << machine;
    auto topology = codec::import_topology_json(profile->json, {});
    ASSERT_TRUE(topology.ok());
    InventoryReport report;
    report.node = name;
    report.boot_id = "boot";
    report.sequence = ++sequence_;
    report.topology = topology->topology;
    ASSERT_EQ(nodes_.report(report, clock_.now()).outcome, ReportOutcome::taken);
    if (chips.empty()) return;
    report.topology.reset();
    report.sequence = ++sequence_;
    report.chips = std::move(chips);
    ASSERT_EQ(nodes_.report(report, clock_.now()).outcome, ReportOutcome::taken);
  }
  void hold(const std::string& uid, const std::string& node, ChipSet chips, bool bound) {
    Holding holding;
    holding.uid = uid;
    holding.key = {"ns", uid};
    holding.node = nodes_.find(node);
    holding.chips = chips;
    holding.bound = bound;
    ASSERT_TRUE(ledger_.hold(holding).ok());
  }

  ManualClock clock_;
  NodeTable nodes_;
  Ledger ledger_{nodes_};
  std::uint64_t sequence_ = 0;
};

class Content : public ClusterInfo {
 protected:
  // A whole pass: whether it changed anything.
  bool update(std::int64_t now) {
    return content_.go_on(nodes_, ledger_, now, limits::kMaxNodes) == Pass::changed;
  }
  using Pass = ClusterInfoContent::Pass;
  mc::DeviceInfo device(const std::string& node) {
    return chipweave::test::cluster_devices_in(*content_.texts().at("cluster-info-device-0"))
        .at(node);
  }
  ClusterInfoContent content_;
};

TEST_F(Content, OnlyAscendNodesAndChipsThatNoBoundPodHas) {
  report("gpu", "hgx-h100-8");
  report("a1", "ascend-910b-8", {{domain::ChipIndex{7}, domain::Health::unhealthy}});
  hold("p", "a1", ChipSet{0, 1}, true);
  hold("q", "a1", ChipSet{2}, false);
  ASSERT_TRUE(update(1000));
  const mc::DeviceInfo info = device("a1");
  EXPECT_THAT(*info.available, ElementsAre(2, 3, 4, 5, 6));
  EXPECT_THAT(info.unhealthy, ElementsAre(7));
  EXPECT_THAT(*info.network_unhealthy, IsEmpty());
  EXPECT_EQ(info.update_time, 1000);
  const auto texts = content_.texts();
  EXPECT_EQ(texts.size(), 2U);
  EXPECT_EQ(*texts.at("cluster-info-node-cm"), "");
  EXPECT_EQ(chipweave::test::cluster_devices_in(*texts.at("cluster-info-device-0")).size(), 1U);
}

TEST_F(Content, ATimeChangesWithItsNodeOnly) {
  report("a1", "ascend-910b-8");
  report("a2", "ascend-910b-8");
  ASSERT_TRUE(update(1000));
  EXPECT_FALSE(update(1005));
  hold("reservation", "a1", ChipSet{3}, false);
  EXPECT_FALSE(update(1010));
  hold("p", "a2", ChipSet{0}, true);
  EXPECT_TRUE(update(1015));
  EXPECT_EQ(device("a1").update_time, 1000);
  EXPECT_EQ(device("a2").update_time, 1015);
  // The clock was set back.
  ledger_.drop("p");
  EXPECT_TRUE(update(900));
  EXPECT_EQ(device("a2").update_time, 1016);
}

TEST_F(Content, TimesOfLivingNodesAreRenewed) {
  report("a1", "ascend-910b-8");
  report("a2", "ascend-910b-8");
  ASSERT_TRUE(update(1000));
  nodes_.set_stale(nodes_.find("a1"), true);
  EXPECT_FALSE(update(1179));
  EXPECT_TRUE(update(1180));
  EXPECT_EQ(device("a1").update_time, 1000);
  EXPECT_EQ(device("a2").update_time, 1180);
}

TEST_F(Content, FaultsAreListed) {
  report("a1", "ascend-910b-8");
  ASSERT_TRUE(update(1000));
  domain::Fault of_chip;
  of_chip.code = "dcmi.80e01801";
  of_chip.effect = domain::Effect::unusable;
  of_chip.chip = domain::ChipIndex{3};
  domain::Fault of_machine;
  of_machine.code = "node.cpu.0000001d";
  of_machine.effect = domain::Effect::network;
  content_.set_report("a1", {{of_chip, of_machine}, ""});
  ASSERT_TRUE(update(1005));
  ASSERT_EQ(device("a1").faults.size(), 1U);
  EXPECT_EQ(device("a1").faults[0].code, "80E01801");
  const Json nodes = Json::parse(*content_.texts().at("cluster-info-node-cm"));
  EXPECT_EQ(nodes["mindx-dl-nodeinfo-a1"]["NodeStatus"], "PreSeparate");
  content_.set_report("a1", {});
  ASSERT_TRUE(update(1010));
  EXPECT_EQ(*content_.texts().at("cluster-info-node-cm"), "");
}

TEST_F(Content, SuperPodsHaveSwitches) {
  report("a3", "ascend-a3-16");
  ASSERT_TRUE(update(1000));
  const Json switches = Json::parse(*content_.texts().at("cluster-info-switch-0"));
  EXPECT_EQ(switches["mindx-dl-switchinfo-a3"]["NodeStatus"], "Healthy");
  EXPECT_EQ(switches["mindx-dl-switchinfo-a3"]["UpdateTime"], 1000);
}

TEST_F(Content, NodesWithoutInventoryGo) {
  report("a1", "ascend-910b-8");
  ASSERT_TRUE(update(1000));
  nodes_.withdraw_inventory(nodes_.find("a1"));
  EXPECT_TRUE(update(1005));
  EXPECT_THAT(content_.texts(), IsEmpty());
  EXPECT_FALSE(update(1010));
}

TEST_F(Content, APassRebuildsAFewEntriesAtATime) {
  for (const char* name : {"a1", "a2", "a3"}) report(name, "ascend-910b-8");
  EXPECT_EQ(content_.go_on(nodes_, ledger_, 1000, 2), Pass::unfinished);
  EXPECT_EQ(content_.go_on(nodes_, ledger_, 1001, 2), Pass::changed);
  EXPECT_EQ(device("a2").update_time, 1000);
  EXPECT_EQ(device("a3").update_time, 1001);
  hold("p", "a2", ChipSet{0}, true);
  EXPECT_EQ(content_.go_on(nodes_, ledger_, 1002, 2), Pass::changed);
  EXPECT_EQ(content_.go_on(nodes_, ledger_, 1003, 2), Pass::unchanged);
}

TEST_F(Content, NodesThatComeAndGoDuringAPass) {
  for (const char* name : {"a1", "a2", "a3"}) report(name, "ascend-910b-8");
  EXPECT_EQ(content_.go_on(nodes_, ledger_, 1000, 2), Pass::unfinished);
  nodes_.withdraw_inventory(nodes_.find("a1"));
  report("a4", "ascend-910b-8");
  while (content_.go_on(nodes_, ledger_, 1001, 2) != Pass::unchanged) {
  }
  const auto devices =
      chipweave::test::cluster_devices_in(*content_.texts().at("cluster-info-device-0"));
  EXPECT_FALSE(devices.contains("a1"));
  for (const char* name : {"a2", "a3", "a4"}) EXPECT_TRUE(devices.contains(name)) << name;
}

TEST_F(Content, APassThatIsNotFinishedBeginsAgain) {
  for (const char* name : {"a1", "a2"}) report(name, "ascend-910b-8");
  EXPECT_EQ(content_.go_on(nodes_, ledger_, 1000, 1), Pass::unfinished);
  nodes_.withdraw_inventory(nodes_.find("a1"));
  content_.begin_again();
  EXPECT_TRUE(update(1001));
  const auto devices =
      chipweave::test::cluster_devices_in(*content_.texts().at("cluster-info-device-0"));
  EXPECT_EQ(devices.size(), 1U);
  EXPECT_TRUE(devices.contains("a2"));
}

class Publisher : public ClusterInfo {
 protected:
  // As its agent reports it.
  void put_inventory(const std::string& node, const Json& status) {
    api_.put(std::string(codec::kInventoryPath) + "/" + node,
             {{"metadata", {{"name", node}, {"uid", node}}}, {"status", status}});
  }
  void pass(milliseconds time, bool leads = true) {
    for (milliseconds t{0}; t < time; t += milliseconds(100)) {
      publisher_.tick(nodes_, ledger_, leads);
      api_.advance(milliseconds(100));
    }
  }
  std::vector<std::string> writes() {
    std::vector<std::string> out;
    for (std::string& line : std::exchange(api_.log, {})) {
      if (!line.starts_with("GET") && !line.starts_with("WATCH")) out.push_back(std::move(line));
    }
    return out;
  }
  mc::DeviceInfo device(const std::string& node) {
    const Json& data = api_.objects.at(kDevices)["data"];
    return chipweave::test::cluster_devices_in(data["cluster-info-device-0"].get<std::string>())
        .at(node);
  }

  agent::FakeApi api_{clock_};
  ClusterInfoPublisher publisher_{api_, clock_, {}};
};

TEST_F(Publisher, WritesOnChangeAndNotMoreOftenThanEveryFiveSeconds) {
  report("a1", "ascend-910b-8");
  pass(seconds(1));
  EXPECT_THAT(writes(),
              testing::UnorderedElementsAre("POST /api/v1/namespaces/mindx-dl/configmaps",
                                            "POST /api/v1/namespaces/mindx-dl/configmaps"));
  const Json& labels = api_.objects.at(kDevices)["metadata"]["labels"];
  EXPECT_EQ(labels["mx-consumer-volcano"], "true");
  EXPECT_EQ(labels["app.kubernetes.io/managed-by"], "chipweave-scheduler");
  pass(seconds(60));
  EXPECT_THAT(writes(), IsEmpty());
  // Pods are added and deleted for half a minute.
  for (int i = 0; i < 60; ++i) {
    hold("p", "a1", ChipSet{i % 8}, true);
    pass(milliseconds(500));
    ledger_.drop("p");
  }
  const auto all = writes();
  EXPECT_GE(all.size(), 4U);
  EXPECT_LE(all.size(), 7U);
  for (const std::string& one : all) EXPECT_EQ(one, "PATCH " + kDevices);
  pass(seconds(10));
  EXPECT_EQ(device("a1").available->size(), 8U);
}

TEST_F(Publisher, OnlyTheLeaderWrites) {
  report("a1", "ascend-910b-8");
  pass(seconds(20), false);
  EXPECT_THAT(api_.log, IsEmpty());
  pass(seconds(1));
  EXPECT_FALSE(writes().empty());
  hold("p", "a1", ChipSet{0}, true);
  pass(seconds(20), false);
  EXPECT_THAT(api_.log, IsEmpty());
  EXPECT_EQ(api_.in_flight(), 0U);
  pass(seconds(1));
  EXPECT_THAT(writes(), ElementsAre("PATCH " + kDevices));
}

// Stopped for so long that its term is over when it resumes, before it has learned of it.
TEST_F(Publisher, WhatIsUnderWayWhenATermEndsIsNotWritten) {
  bool leads = true;
  ClusterInfoPublisher::Options options;
  options.may_send = [&] { return leads; };
  ClusterInfoPublisher publisher(api_, clock_, std::move(options));
  report("a1", "ascend-910b-8");
  publisher.tick(nodes_, ledger_, true);
  api_.advance(seconds(1));  // the inventories are read
  publisher.tick(nodes_, ledger_, true);
  leads = false;
  api_.advance(seconds(1));
  EXPECT_THAT(api_.objects, IsEmpty());
  leads = true;
  api_.advance(seconds(60));
  EXPECT_TRUE(api_.objects.contains(kDevices));
}

TEST_F(Publisher, PartsOfAnEarlierLeaderThatNobodyNeedsAreDeleted) {
  for (const char* manager : {"chipweave-scheduler", "clusterd"}) {
    const std::string name =
        manager == std::string("clusterd") ? "cluster-info-switch-9" : "cluster-info-device-19";
    api_.put(
        kMaps + name,
        {{"metadata",
          {{"name", name}, {"uid", name}, {"labels", {{"app.kubernetes.io/managed-by", manager}}}}},
         {"data", {{name, "{}"}}}});
  }
  pass(seconds(10));
  EXPECT_THAT(writes(), ElementsAre("DELETE " + kMaps + "cluster-info-device-19"));
}

TEST_F(Publisher, AnotherProgramsMapIsLeftAsItIs) {
  api_.put(kDevices, {{"metadata", {{"name", "cluster-info-device-0"}, {"uid", "c"}}},
                      {"data", {{"cluster-info-device-0", "{}"}}}});
  report("a1", "ascend-910b-8");
  pass(seconds(40));
  EXPECT_EQ(api_.objects.at(kDevices)["data"]["cluster-info-device-0"], "{}");
}

TEST_F(Publisher, FaultsComeFromTheStatus) {
  report("a1", "ascend-910b-8");
  put_inventory("a1", Json::parse(R"({"faults":[{"code":"dcmi.80e01801","effect":"unusable",)"
                                  R"("chip":3,"sinceMs":5}],"facts":{"driver":"1"}})"));
  pass(seconds(1));
  ASSERT_EQ(device("a1").faults.size(), 1U);
  EXPECT_EQ(device("a1").faults[0].npu, "Ascend910-3");
  put_inventory("a1", {{"faults", 7}});
  pass(seconds(10));
  EXPECT_THAT(device("a1").faults, IsEmpty());
}

TEST_F(Publisher, AFaultThatEndedWhileAnotherReplicaLedIsGone) {
  report("a1", "ascend-910b-8");
  const Json faulty = Json::parse(
      R"({"faults":[{"code":"dcmi.80e01801","effect":"unusable","chip":3,"sinceMs":5}]})");
  put_inventory("a1", faulty);
  pass(seconds(1));
  ASSERT_EQ(device("a1").faults.size(), 1U);
  pass(seconds(1), false);
  put_inventory("a1", {{"faults", Json::array()}});
  pass(seconds(10));
  EXPECT_THAT(device("a1").faults, IsEmpty());
}

// Faults that are not known yet must not be published as none.
TEST_F(Publisher, NothingIsWrittenBeforeTheInventoriesWereRead) {
  report("a1", "ascend-910b-8");
  api_.unanswered = "nodeinventories";
  pass(seconds(20));
  EXPECT_THAT(writes(), IsEmpty());
  api_.unanswered.clear();
  pass(std::chrono::minutes(2));
  EXPECT_FALSE(writes().empty());
}

// The chart's policy allows exactly the names that the publisher may write.
TEST(ClusterInfoNames, TheChartAllowsAsManyPartsAsThereCanBe) {
  EXPECT_EQ(limits::kMaxNodes / mc::kMaxDevicesOfPart, 20U);
  EXPECT_EQ(limits::kMaxNodes / mc::kMaxSwitchesOfPart, 10U);
  const auto policy = chipweave::test::file_content(
      chipweave::test::source_path("charts/chipweave/templates/scheduler-policy.yaml"));
  ASSERT_TRUE(policy);
  EXPECT_NE(policy->find("^cluster-info-(node-cm|device-(1?[0-9])|switch-[0-9])$"),
            std::string::npos);
}

}  // namespace
}  // namespace chipweave::sched
