#include "common/codec/mindcluster/cluster_info.hpp"

#include <gtest/gtest.h>

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
  EXPECT_NE(info->warnings[2].find("\"gpu-0\""), std::string::npos) << info->warnings[2];
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

}  // namespace
}  // namespace chipweave::codec::mindcluster
