#include "common/codec/mindcluster/node/device_info.hpp"

#include <gtest/gtest.h>

#include "common/codec/mindcluster/faults/upgrade_faults.hpp"
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
  EXPECT_EQ(*read_device_info(text, kSha256), info);
}

TEST(DeviceInfo, ChipsWithoutNetworkHaveNoNetworkKey) {
  DeviceInfo info;
  info.prefix = "Ascend310P";
  info.unhealthy = {4};
  const std::string text = write_device_info(info, kSha256);
  EXPECT_EQ(text.find("NetworkUnhealthy"), std::string::npos);
  EXPECT_EQ(text.find(R"("huawei.com/Ascend310P":)"), std::string::npos);
  EXPECT_EQ(*read_device_info(text, kSha256), info);
}

TEST(DeviceInfo, IsReadAsItWasWritten) {
  DeviceInfo info = faulty();
  info.others["huawei.com/Ascend910-2c"] = "Ascend910-2c-100-0";
  info.recovering = {5, 6};
  info.super_pod_id = kIdUnreported;
  info.faults[0].type = "a<b>&\xE2\x80\xA8";
  const std::string text = write_device_info(info, kSha256);
  EXPECT_NE(text.find(R"(a\\u003cb\\u003e\\u0026\\u2028)"), std::string::npos) << text;
  const auto again = read_device_info(text, kSha256);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(*again, info);
}

TEST(DeviceInfo, UnknownMembersAndBlanksOfTheTextDoNoHarm) {
  std::string text = kHealthy;
  text.insert(1, R"( "TopoCheck" : "OK", "RackID": null, )");
  const auto info = read_device_info(text, kSha256);
  ASSERT_TRUE(info.ok()) << info.error().text();
  EXPECT_EQ(*info, healthy());
}

TEST(DeviceInfo, BlanksInListsAreCoveredByTheCheckCode) {
  const std::string inner =
      R"({"DeviceList":{"huawei.com/Ascend910":"Ascend910-1, Ascend910-0"},"UpdateTime":3})";
  const std::string text =
      R"({"DeviceInfo":)" + inner + R"(,"CheckCode":")" + check_code(inner, kSha256) + R"("})";
  const auto info = read_device_info(text, kSha256);
  ASSERT_TRUE(info.ok()) << info.error().text();
  EXPECT_EQ(*info->available, (std::vector<int>{0, 1}));
  EXPECT_EQ(info->super_pod_id, kIdUnsupported);
  EXPECT_FALSE(info->network_unhealthy.has_value());
}

TEST(DeviceInfo, AWrongCheckCodeIsAnError) {
  std::string text = kHealthy;
  text.replace(text.find("1763713955"), 10, "1763713956");
  const auto info = read_device_info(text, kSha256);
  ASSERT_FALSE(info.ok());
  EXPECT_NE(info.error().text().find("CheckCode"), std::string::npos);
  EXPECT_FALSE(read_device_info(R"({"DeviceInfo":{"DeviceList":{}}})", kSha256).ok());
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
  EXPECT_EQ(*read_switch_info(text), info);
}

TEST(SwitchInfo, LevelsSayWhatBecomesOfTheNode) {
  EXPECT_EQ(node_status_of("NotHandleFault"), kNodeHealthy);
  EXPECT_EQ(node_status_of("SubHealthFault"), kNodeSubHealthy);
  EXPECT_EQ(node_status_of("RestartRequestFault"), kNodeUnHealthy);
  EXPECT_EQ(node_status_of("ResetFault"), std::nullopt);
}

TEST(UpgradeFaults, AreSortedByTheBytesOfNames) {
  const UpgradeFaults faults = {{2, {{1750000000, "80E01801", "SeparateNPU", "FaultFrequency"}}},
                                {10, {}}};
  const std::string text = write_upgrade_faults("Ascend910", faults);
  EXPECT_EQ(text, R"({"Ascend910-10":[],"Ascend910-2":[{"upgrade_time":1750000000,)"
                  R"("fault_code":"80E01801","fault_level":"SeparateNPU",)"
                  R"("upgrade_type":"FaultFrequency"}]})");
  EXPECT_EQ(*read_upgrade_faults("Ascend910", text), faults);
  EXPECT_TRUE(read_upgrade_faults("Ascend910", "")->empty());
  EXPECT_FALSE(read_upgrade_faults("npu", text).ok());
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
