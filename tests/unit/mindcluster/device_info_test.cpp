#include "common/codec/mindcluster/node/device_info.hpp"

#include <gtest/gtest.h>

#include "common/codec/mindcluster/node/switch_info.hpp"
#include "common/http/sha256.hpp"

namespace chipweave::codec::mindcluster {
namespace {

const Digest kSha256 = http::sha256;

// DeviceInfo and CheckCode as published for a healthy node.
constexpr const char* kHealthy =
    R"({"DeviceInfo":{"DeviceList":{"huawei.com/Ascend910":"Ascend910-0,Ascend910-1,Ascend910-2,)"
    R"(Ascend910-3,Ascend910-4,Ascend910-5,Ascend910-6,Ascend910-7","huawei.com/Ascend910-Fault":)"
    R"("[]","huawei.com/Ascend910-NetworkUnhealthy":"","huawei.com/Ascend910-Recovering":"",)"
    R"("huawei.com/Ascend910-Unhealthy":""},"UpdateTime":1763713955},"SuperPodID":-2,)"
    R"("ServerIndex":-2,)"
    R"("CheckCode":"e5cc7a2c30df99b05fb3415484369006515105b0228fc26b097744dceede93ca"})";

DeviceInfo healthy() {
  DeviceInfo out;
  out.prefix = "Ascend910";
  out.available = {0, 1, 2, 3, 4, 5, 6, 7};
  out.network_unhealthy.emplace();
  out.update_time = 1763713955;
  return out;
}

DeviceInfo faulty() {
  DeviceInfo out = healthy();
  out.available = {1, 2};
  out.network_unhealthy = {2};
  out.unhealthy = {7};
  ChipFault fault;
  fault.type = kCardUnhealthy;
  fault.npu = "Ascend910-7";
  fault.large_model_level = fault.level = fault.handling = "SeparateNPU";
  fault.code = "80E01801";
  fault.moments["80E01801"] = {1750000000000, "SeparateNPU"};
  out.faults = {fault};
  out.update_time = 1750000001;
  return out;
}

TEST(DeviceInfo, HasTheBytesAndTheCheckCodeOfTheDevicePlugin) {
  EXPECT_EQ(write_device_info(healthy(), kSha256), kHealthy);
}

TEST(DeviceInfo, FaultsAreJsonWithinAString) {
  const std::string text = write_device_info(faulty(), kSha256);
  const std::string list =
      R"({"huawei.com/Ascend910":"Ascend910-1,Ascend910-2","huawei.com/Ascend910-Fault":)"
      R"("[{\"fault_type\":\"CardUnhealthy\",\"npu_name\":\"Ascend910-7\",)"
      R"(\"large_model_fault_level\":\"SeparateNPU\",\"fault_level\":\"SeparateNPU\",)"
      R"(\"fault_handling\":\"SeparateNPU\",\"fault_code\":\"80E01801\",)"
      R"(\"fault_time_and_level_map\":{\"80E01801\":{\"fault_time\":1750000000000,)"
      R"(\"fault_level\":\"SeparateNPU\"}}}]","huawei.com/Ascend910-NetworkUnhealthy":)"
      R"("Ascend910-2","huawei.com/Ascend910-Recovering":"",)"
      R"("huawei.com/Ascend910-Unhealthy":"Ascend910-7"})";
  EXPECT_EQ(text.substr(0, text.find(R"(,"SuperPodID")")),
            R"({"DeviceInfo":{"DeviceList":)" + list + R"(,"UpdateTime":1750000001})");
}

TEST(DeviceInfo, RackIdFollowsTheCheckCode) {
  DeviceInfo info = healthy();
  info.prefix = "npu";
  info.super_pod_id = 5;
  info.server_index = 0;
  info.rack_id = 6;
  const std::string text = write_device_info(info, kSha256);
  EXPECT_TRUE(text.ends_with("\",\"RackID\":6}")) << text;
  EXPECT_NE(text.find(R"("huawei.com/npu":"npu-0,npu-1,)"), std::string::npos);
}

TEST(DeviceInfo, ChipsWithoutNetworkHaveNoNetworkKey) {
  DeviceInfo info;
  info.prefix = "Ascend310P";
  info.unhealthy = {4};
  const std::string text = write_device_info(info, kSha256);
  EXPECT_EQ(text.find("NetworkUnhealthy"), std::string::npos);
  EXPECT_EQ(text.find(R"("huawei.com/Ascend310P":)"), std::string::npos);
}

TEST(DeviceInfo, TextsAreEscapedAsGoDoes) {
  DeviceInfo info = faulty();
  info.faults[0].type = "a<b>&\xE2\x80\xA8";
  const std::string text = write_device_info(info, kSha256);
  EXPECT_NE(text.find(R"(a\\u003cb\\u003e\\u0026\\u2028)"), std::string::npos) << text;
}

TEST(SwitchInfo, HasEventsAsStrings) {
  SwitchInfo info;
  SwitchEvent event;
  event.type = 3;
  event.fault_code = "[0x00f103b0,155904,na,na]";
  event.peer_device = 0xFFFF;
  event.chip = 1;
  event.port = 2;
  event.severity = 1;
  event.assertion = 1;
  event.raised = 1750000000000;
  info.events = {event};
  info.level = "SeparateFault";
  info.update_time = 1750000001;
  info.node_status = *node_status_of(info.level);
  info.moments["[0x00f103b0,155904,na,na]_1_2"] = {1750000000, "SeparateFault"};
  const std::string text = write_switch_info(info);
  EXPECT_EQ(text, R"({"FaultCode":["{\"EventType\":3,\"AssembledFaultCode\":)"
                  R"(\"[0x00f103b0,155904,na,na]\",\"PeerPortDevice\":65535,\"PeerPortId\":0,)"
                  R"(\"SwitchChipId\":1,\"SwitchPortId\":2,\"Severity\":1,\"Assertion\":1,)"
                  R"(\"AlarmRaisedTime\":1750000000000}"],"FaultLevel":"SeparateFault",)"
                  R"("UpdateTime":1750000001,"NodeStatus":"UnHealthy","FaultTimeAndLevelMap":)"
                  R"({"[0x00f103b0,155904,na,na]_1_2":{"fault_time":1750000000,)"
                  R"("fault_level":"SeparateFault"}}})");
}

TEST(SwitchInfo, LevelsSayWhatBecomesOfTheNode) {
  EXPECT_EQ(node_status_of("NotHandleFault"), kNodeHealthy);
  EXPECT_EQ(node_status_of("SubHealthFault"), kNodeSubHealthy);
  EXPECT_EQ(node_status_of("RestartRequestFault"), kNodeUnHealthy);
  EXPECT_EQ(node_status_of("ResetFault"), std::nullopt);
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
