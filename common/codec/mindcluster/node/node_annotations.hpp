// The annotations in which MindCluster's device plugin publishes the constant facts of a node's
// chips (baseDeviceInfos) and the chips that wait for a reset (ResetInfo).
//
// Format: Ascend/mind-cluster, structs NpuBaseInfo, ResetInfo and ResetDevice. The members that the
// plugin adds on A5 (DeviceID, levelList) are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kBaseDevicesAnnotation = "baseDeviceInfos";
inline constexpr std::string_view kSuperPodIdAnnotation = "superPodID";    // a number
inline constexpr std::string_view kServerIndexAnnotation = "serverIndex";  // a number
inline constexpr std::string_view kResetInfoAnnotation = "ResetInfo";
inline constexpr std::size_t kMaxResetDevices = 1024;

struct BaseDevice {
  std::string ip;  // empty: a chip without network, or unknown
  std::optional<std::uint32_t> super_device_id;

  friend bool operator==(const BaseDevice&, const BaseDevice&) = default;
};
using BaseDevices = std::map<int, BaseDevice>;  // by chip

// {"Ascend910-2":{"IP":"192.0.2.12","SuperDeviceID":262146}}, names ascending by bytes.
std::string write_base_devices(std::string_view prefix, const BaseDevices& devices);
// An empty text is an empty map; an IP that is not an address ("-1": the plugin could not read it)
// is left unknown. Errors: not a JSON object, a chip of another prefix.
Result<BaseDevices> read_base_devices(std::string_view prefix, std::string_view text);

// The value of kSuperPodIdAnnotation or kServerIndexAnnotation; nullopt: not a number.
std::optional<std::int32_t> annotation_number(std::string_view text);

struct ResetDevice {
  std::int32_t card_id = 0;
  std::int32_t device_id = 0;
  std::int32_t associated_card_id = 0;
  std::int32_t phy_id = 0;
  std::int32_t logic_id = 0;

  friend bool operator==(const ResetDevice&, const ResetDevice&) = default;
};

struct ResetInfo {
  std::vector<ResetDevice> third_party;  // reset by other software
  std::vector<ResetDevice> manual;       // must be reset manually

  friend bool operator==(const ResetInfo&, const ResetInfo&) = default;
};

std::string write_reset_info(const ResetInfo& info);
// An empty text: none.
Result<ResetInfo> read_reset_info(std::string_view text);

}  // namespace chipweave::codec::mindcluster
