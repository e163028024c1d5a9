#include "common/codec/mindcluster/cluster_info.hpp"

#include "common/codec/mindcluster/cluster_texts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chipweave::codec::mindcluster {
namespace {

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

TEST(ClusterInfo, SwitchesAndNodesAreWrittenAsGoWouldWriteThem) {
  SwitchInfo one;
  one.events.push_back({1, "[0x00f103b0,155904,na,na]", 2, 3, 4, 5, 2, 1, 9});
  one.level = "SeparateFault";
  one.node_status = kNodeUnHealthy;
  one.moments["x_0_1"] = {8, "SeparateFault"};
  EXPECT_EQ(alone("a", one, 7),
            R"({"mindx-dl-switchinfo-a":{"FaultInfo":[{"EventType":1,"AssembledFaultCode":)"
            R"("[0x00f103b0,155904,na,na]","PeerPortDevice":2,"PeerPortId":3,"SwitchChipId":4,)"
            R"("SwitchPortId":5,"Severity":2,"Assertion":1,"AlarmRaisedTime":9}],)"
            R"("FaultLevel":"SeparateFault","UpdateTime":7,"NodeStatus":"UnHealthy",)"
            R"("FaultTimeAndLevelMap":{"x_0_1":{"fault_time":8,"fault_level":"SeparateFault"}},)"
            R"("CmName":"mindx-dl-switchinfo-a"}})");
  SwitchInfo none;
  none.update_time = 7;
  none.node_status = kNodeHealthy;
  EXPECT_EQ(
      alone("a", none, 7),
      R"({"mindx-dl-switchinfo-a":{"FaultInfo":[],"FaultLevel":"","UpdateTime":7,)"
      R"("NodeStatus":"Healthy","FaultTimeAndLevelMap":{},"CmName":"mindx-dl-switchinfo-a"}})");
  const NodeInfo node{{{"CPU", 0, {"0000001D"}, "PreSeparateFault"}}, "PreSeparate"};
  EXPECT_EQ(alone("a", node, 7),
            R"({"mindx-dl-nodeinfo-a":{"FaultDevList":[{"DeviceType":"CPU","DeviceId":0,)"
            R"("FaultCode":["0000001D"],"FaultLevel":"PreSeparateFault"}],)"
            R"("NodeStatus":"PreSeparate","CmName":"mindx-dl-nodeinfo-a"}})");
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
