#include "common/codec/mindcluster/cluster_info.hpp"

#include "common/codec/mindcluster/cluster_texts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chipweave::codec::mindcluster {
namespace {

TEST(ClusterInfo, DevicesComeByNode) {
  const auto info = read_cluster_devices(
      R"({"mindx-dl-deviceinfo-n-1":{"DeviceList":{"huawei.com/Ascend910":"Ascend910-2",)"
      R"("huawei.com/Ascend910-Fault":"[]","huawei.com/Ascend910-NetworkUnhealthy":""},)"
      R"("UpdateTime":1759202968,"CmName":"mindx-dl-deviceinfo-n-1","SuperPodID":3,"RackID":4,)"
      R"("ServerIndex":5}})");
  ASSERT_TRUE(info.ok()) << info.error().text();
  EXPECT_TRUE(info->warnings.empty());
  const DeviceInfo& node = info->nodes.at("n-1");
  EXPECT_EQ(*node.available, std::vector<int>{2});
  EXPECT_EQ(node.update_time, 1759202968);
  EXPECT_EQ(node.super_pod_id, 3);
  EXPECT_EQ(node.rack_id, 4);
  EXPECT_EQ(node.server_index, 5);
}

TEST(ClusterInfo, OneBadNodeIsAWarning) {
  const auto info = read_cluster_devices(
      R"({"mindx-dl-deviceinfo-good":{"DeviceList":{"huawei.com/npu":"npu-0"}},)"
      R"("mindx-dl-deviceinfo-bad":{"DeviceList":{"huawei.com/npu":"gpu-0"}},)"
      R"("mindx-dl-deviceinfo-":{},"else":1})");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->nodes.size(), 1U);
  ASSERT_EQ(info->warnings.size(), 3U);
  EXPECT_NE(info->warnings[0].find("\"gpu-0\""), std::string::npos) << info->warnings[0];
}

TEST(ClusterInfo, NodesMayBeAnEmptyText) {
  EXPECT_TRUE(read_cluster_nodes("")->nodes.empty());
  const auto info = read_cluster_nodes(
      R"({"mindx-dl-nodeinfo-a":{"FaultDevList":[],"NodeStatus":"Healthy","CmName":"x"}})");
  EXPECT_EQ(info->nodes.at("a").status, "Healthy");
}

TEST(ClusterInfo, SwitchEventsMayBeObjects) {
  const auto info = read_cluster_switches(
      R"({"mindx-dl-switchinfo-a":{"FaultInfo":[{"SwitchChipId":6}],"FaultLevel":"ResetFault",)"
      R"("UpdateTime":1,"NodeStatus":"Healthy","FaultTimeAndLevelMap":null,"CmName":"x"}})");
  ASSERT_TRUE(info.ok());
  ASSERT_EQ(info->nodes.at("a").events.size(), 1U);
  EXPECT_EQ(info->nodes.at("a").events[0].chip, 6U);
}

TEST(ClusterInfo, NoMapIsAnError) {
  EXPECT_FALSE(read_cluster_devices("[]").ok());
  EXPECT_FALSE(read_cluster_switches("{").ok());
}

DeviceInfo device_of(std::vector<int> available) {
  DeviceInfo out;
  out.prefix = "Ascend910";
  out.available = std::move(available);
  out.network_unhealthy.emplace();
  out.update_time = 1759202968;
  out.super_pod_id = 3;
  out.server_index = 5;
  return out;
}

// The text of a ConfigMap with a single node.
template <class Info>
std::string alone(const std::string& node, const Info& info, std::int64_t time) {
  ClusterTexts texts("part-", 1000);
  texts.put(node, cluster_entry(node, info), time);
  return *texts.texts().at("part-0");
}

TEST(ClusterInfo, DevicesAreWrittenAsGoWouldWriteThem) {
  DeviceInfo info = device_of({3, 1});
  info.rack_id = 4;
  EXPECT_EQ(alone("n-1", info, 1759202968),
            R"({"mindx-dl-deviceinfo-n-1":{"DeviceList":{"huawei.com/Ascend910":)"
            R"("Ascend910-1,Ascend910-3","huawei.com/Ascend910-Fault":"[]",)"
            R"("huawei.com/Ascend910-NetworkUnhealthy":"","huawei.com/Ascend910-Recovering":"",)"
            R"("huawei.com/Ascend910-Unhealthy":""},"UpdateTime":1759202968,)"
            R"("CmName":"mindx-dl-deviceinfo-n-1","SuperPodID":3,"RackID":4,"ServerIndex":5}})");
}

TEST(ClusterInfo, WhatIsWrittenReadsBack) {
  DeviceInfo broken = device_of({0});
  ChipFault fault;
  fault.type = kCardUnhealthy;
  fault.npu = "Ascend910-7";
  fault.level = fault.large_model_level = fault.handling = "a<b>&\"";
  fault.moments["80E01801"] = {1750000000000, "SeparateNPU"};
  broken.unhealthy = {7};
  broken.faults = {fault};
  const auto read = read_cluster_devices(alone("b", broken, 1759202968));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read->warnings.empty());
  EXPECT_EQ(read->nodes.at("b"), broken);

  SwitchInfo switches;
  switches.events.push_back({1, "[0x00f103b0,155904,na,na]", 2, 3, 4, 5, 2, 1, 9});
  switches.level = "SeparateFault";
  switches.update_time = 7;
  switches.node_status = kNodeUnHealthy;
  switches.moments["x_0_1"] = {8, "SeparateFault"};
  const auto of_switches = read_cluster_switches(alone("a", switches, 7));
  ASSERT_TRUE(of_switches.ok());
  EXPECT_EQ(of_switches->nodes.at("a"), switches);
}

TEST(ClusterInfo, SwitchesAndNodesAreWrittenAsGoWouldWriteThem) {
  SwitchInfo none;
  none.update_time = 7;
  none.node_status = kNodeHealthy;
  EXPECT_EQ(
      alone("a", none, 7),
      R"({"mindx-dl-switchinfo-a":{"FaultInfo":[],"FaultLevel":"","UpdateTime":7,)"
      R"("NodeStatus":"Healthy","FaultTimeAndLevelMap":{},"CmName":"mindx-dl-switchinfo-a"}})");
  const NodeInfo node{{{"CPU", 0, {"0000001D"}, "PreSeparateFault"}}, "PreSeparate"};
  const std::string text = alone("a", node, 7);
  EXPECT_EQ(text, R"({"mindx-dl-nodeinfo-a":{"FaultDevList":[{"DeviceType":"CPU","DeviceId":0,)"
                  R"("FaultCode":["0000001D"],"FaultLevel":"PreSeparateFault"}],)"
                  R"("NodeStatus":"PreSeparate","CmName":"mindx-dl-nodeinfo-a"}})");
  EXPECT_EQ(read_cluster_nodes(text)->nodes.at("a"), node);
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
