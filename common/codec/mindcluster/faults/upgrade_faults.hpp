// UpgradeFaults — why faults of chips were raised to a higher level: key UpgradeFaultReason next to
// DeviceInfoCfg, a JSON map from chips to lists.
//
// Format: Ascend/mind-cluster, struct UpgradeFaultReason of its device plugin. There is no
// CheckCode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kUpgradeFaultKey = "UpgradeFaultReason";
inline constexpr std::size_t kMaxUpgradeReasons = 1024;  // of one chip

struct UpgradeReason {
  std::int64_t time = 0;
  std::string code;
  std::string level;
  std::string type;  // "FaultFrequency", "FaultDuration", "FaultAutofill"

  friend bool operator==(const UpgradeReason&, const UpgradeReason&) = default;
};
using UpgradeFaults = std::map<int, std::vector<UpgradeReason>>;  // by chip

std::string write_upgrade_faults(std::string_view prefix, const UpgradeFaults& faults);
// An empty text is an empty map.
Result<UpgradeFaults> read_upgrade_faults(std::string_view prefix, std::string_view text);

}  // namespace chipweave::codec::mindcluster
