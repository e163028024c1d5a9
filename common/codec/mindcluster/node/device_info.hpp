// DeviceInfo — what a node's device plugin reports about its chips: key DeviceInfoCfg of the
// ConfigMap mindx-dl-deviceinfo-<node>, from which Volcano and ClusterD learn which chips they may
// allocate.
//
//   {"DeviceInfo":{"DeviceList":{"huawei.com/Ascend910":"Ascend910-0,Ascend910-1",
//     "huawei.com/Ascend910-Fault":"[…]","huawei.com/Ascend910-NetworkUnhealthy":"",…},
//     "UpdateTime":N},"SuperPodID":-2,"ServerIndex":-2,"CheckCode":"…"}
//
// Format: Ascend/mind-cluster, structs NodeDeviceInfoCache and NodeDeviceInfo of its device plugin.
// The CheckCode covers "DeviceInfo" alone; readers drop a ConfigMap in which it is wrong, and one
// whose UpdateTime is not newer than what they hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/mindcluster/check_code.hpp"
#include "common/codec/mindcluster/faults/chip_faults.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kDeviceInfoPrefix = "mindx-dl-deviceinfo-";
inline constexpr std::string_view kDeviceInfoNamespace = "kube-system";
inline constexpr std::string_view kDeviceInfoLabel = "mx-consumer-cim";  // "true"
inline constexpr std::string_view kDeviceInfoKey = "DeviceInfoCfg";
// A plain list (chip_list.hpp) of chips that operators or rules have taken out of service.
inline constexpr std::string_view kManuallySeparateKey = "ManuallySeparateNPU";

inline constexpr std::int32_t kIdUnreported = -1;   // the driver has none
inline constexpr std::int32_t kIdUnsupported = -2;  // this hardware has none, or the query failed

struct DeviceInfo {
  std::string prefix;  // of chip names, and of keys after "huawei.com/": Ascend910, Ascend310P, npu
  // Healthy and, as far as the kubelet knows, free. Absent: the writer leaves that to the
  // scheduler.
  std::optional<std::vector<int>> available;
  // Chips that work except for their network port. Absent for chips without a port (310, 310P); on
  // other nodes Volcano places no distributed jobs if the list is missing.
  std::optional<std::vector<int>> network_unhealthy;
  std::vector<int> unhealthy;
  std::vector<int> recovering;
  std::vector<ChipFault> faults;
  std::int64_t update_time = 0;  // seconds
  std::int32_t super_pod_id = kIdUnsupported;
  std::int32_t server_index = kIdUnsupported;
  std::optional<std::int32_t> rack_id;
};

// The members DeviceList and UpdateTime.
void append_device_list(JsonWriter& out, const DeviceInfo& info);
std::string write_device_info(const DeviceInfo& info, const Digest& sha256);

}  // namespace chipweave::codec::mindcluster
