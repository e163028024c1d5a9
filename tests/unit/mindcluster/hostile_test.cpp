// Malformed texts: each gives an error with a message of its own.
#include <gtest/gtest.h>

#include "common/codec/mindcluster/cluster_info.hpp"
#include "common/codec/mindcluster/faults/upgrade_faults.hpp"
#include "common/codec/mindcluster/node/node_annotations.hpp"

namespace chipweave::codec::mindcluster {
namespace {

// Every CheckCode of zeros is right.
std::string zeros(std::string_view /*text*/) { return std::string(32, '\0'); }

std::string device_info(const std::string& inner, const std::string& more = "") {
  return R"({"DeviceInfo":)" + inner + R"(,"CheckCode":")" + std::string(64, '0') + "\"" + more +
         "}";
}

TEST(Hostile, DeviceInfoIsRefusedWithASentence) {
  const std::string good = R"({"DeviceList":{"huawei.com/npu":"npu-0"},"UpdateTime":1})";
  ASSERT_TRUE(read_device_info(device_info(good), zeros).ok());
  for (const std::string& text : std::vector<std::string>{
           "",
           "null",
           "[]",
           "{",
           std::string(100000, '['),
           "\xff",
           R"({"CheckCode":7})",
           device_info("7"),
           device_info("{}"),
           device_info(R"({"DeviceList":[]})"),
           device_info(R"({"DeviceList":{"huawei.com/npu":7}})"),
           device_info(R"({"DeviceList":{"huawei.com/gpu":""}})"),
           device_info(R"({"DeviceList":{"huawei.com/npu":"npu-0,GPU-1"}})"),
           device_info(R"({"DeviceList":{"huawei.com/npu":"","huawei.com/Ascend910":""}})"),
           device_info(R"({"DeviceList":{"huawei.com/npu":""},"UpdateTime":"1"})"),
           device_info(R"({"DeviceList":{"huawei.com/npu":""},"UpdateTime":1e300})"),
           device_info(R"({"DeviceList":{"huawei.com/npu":"","huawei.com/npu":""}})"),
           device_info(R"({"DeviceList":{"huawei.com/npu-Fault":"{}"}})"),
           device_info(R"({"DeviceList":{"huawei.com/npu-Fault":"[7]"}})"),
           device_info(R"({"DeviceList":{"huawei.com/npu-Fault":"[{\"fault_code\":7}]"}})"),
           device_info(good, R"(,"SuperPodID":4294967296)"),
           device_info(good, R"(,"RackID":"6")")}) {
    const auto info = read_device_info(text, zeros);
    ASSERT_FALSE(info.ok()) << text;
    EXPECT_FALSE(info.error().text().empty());
  }
}

TEST(Hostile, SizesAreBounded) {
  std::string keys = R"("huawei.com/npu":"")";
  for (std::size_t i = 0; i < kMaxOtherKeys; ++i) keys += ",\"" + std::to_string(i) + R"(":"")";
  const auto full = read_device_info(device_info(R"({"DeviceList":{)" + keys + "}}"), zeros);
  ASSERT_TRUE(full.ok()) << full.error().text();
  EXPECT_EQ(*read_device_info(write_device_info(*full, zeros), zeros), *full);
  for (const char* more : {R"(,"x":"")", R"(,"x":"","y":"","z":"","u":"","v":"")"}) {
    const auto crowded =
        read_device_info(device_info(R"({"DeviceList":{)" + keys + more + "}}"), zeros);
    ASSERT_FALSE(crowded.ok());
    const std::string error = crowded.error().text();
    EXPECT_TRUE(error.find("more than") != error.npos || error.find("at most") != error.npos)
        << error;
  }
  std::string faults = "[";
  for (std::size_t i = 0; i <= kMaxFaults; ++i) faults += i == 0 ? "{}" : ",{}";
  EXPECT_FALSE(read_chip_faults(faults + "]").ok());
  EXPECT_FALSE(read_chip_faults(R"([{"npu_name":")" + std::string(5000, 'x') + R"("}])").ok());
  EXPECT_EQ(read_switch_info(std::string(5U << 20U, ' ')).error().code, Errc::limit_exceeded);
  std::string nodes = "{";
  for (int i = 0; i < 100; ++i) nodes += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(read_cluster_devices(nodes + "}")->warnings.size(), kMaxClusterWarnings);
}

TEST(Hostile, OtherTextsAreRefusedWithASentence) {
  for (const char* text : {"7", "[", R"({"FaultCode":["{"]})", R"({"FaultCode":[7]})",
                           R"({"UpdateTime":1.5})", R"({"FaultTimeAndLevelMap":{"a":1}})"}) {
    EXPECT_FALSE(read_switch_info(text).error().text().empty()) << text;
  }
  for (const char* text : {"7", R"({"npu-0":{}})", R"({"npu-0":[1]})", R"({"x":[]})"}) {
    EXPECT_FALSE(read_upgrade_faults("npu", text).error().text().empty()) << text;
  }
  for (const char* text : {"[]", R"({"ManualResetDevs":[[]]})", R"({"ManualResetDevs":7})"}) {
    EXPECT_FALSE(read_reset_info(text).error().text().empty()) << text;
  }
  for (const char* text : {"[]", "{}", R"({"NodeInfo":{"FaultDevList":[null]}})"}) {
    EXPECT_FALSE(read_node_info(text, zeros).error().text().empty()) << text;
  }
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
