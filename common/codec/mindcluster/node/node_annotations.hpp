// The annotations in which MindCluster's device plugin publishes the constant facts of a node's
// chips.
//
// Format: Ascend/mind-cluster, struct NpuBaseInfo, without the members that the plugin adds on A5
// (DeviceID, levelList).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kBaseDevicesAnnotation = "baseDeviceInfos";
inline constexpr std::string_view kSuperPodIdAnnotation = "superPodID";    // a number
inline constexpr std::string_view kServerIndexAnnotation = "serverIndex";  // a number

struct BaseDevice {
  std::string ip;  // empty: a chip without network, or unknown
  std::optional<std::uint32_t> super_device_id;
};
using BaseDevices = std::map<int, BaseDevice>;  // by chip

// {"Ascend910-2":{"IP":"192.0.2.12","SuperDeviceID":262146}}, names ascending by bytes.
std::string write_base_devices(std::string_view prefix, const BaseDevices& devices);

}  // namespace chipweave::codec::mindcluster
