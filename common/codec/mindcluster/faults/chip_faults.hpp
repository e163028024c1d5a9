// ChipFault — one entry of the fault list of a node's chips: a JSON array that DeviceInfo holds as
// a string.
//
// Members in the order of Ascend/mind-cluster's struct DeviceFault. fault_code is upper-case hex,
// several codes separated by commas; fault_time is in milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr std::size_t kMaxFaults = 4096;
inline constexpr std::size_t kMaxFaultCodes = 1024;  // of one fault

inline constexpr std::string_view kCardUnhealthy = "CardUnhealthy";
inline constexpr std::string_view kCardNetworkUnhealthy = "CardNetworkUnhealthy";
inline constexpr std::string_view kNodeUnhealthy = "NodeUnhealthy";
inline constexpr std::string_view kPublicFault = "PublicFault";

struct FaultMoment {
  std::int64_t time = 0;
  std::string level;

  friend bool operator==(const FaultMoment&, const FaultMoment&) = default;
};
using FaultMoments = std::map<std::string, FaultMoment>;  // by fault code

struct ChipFault {
  std::string type;  // kCardUnhealthy …
  std::string npu;   // "Ascend910-7"
  std::string large_model_level;
  std::string level;  // "SeparateNPU" …
  std::string handling;
  std::string code;
  FaultMoments moments;

  friend bool operator==(const ChipFault&, const ChipFault&) = default;
};

// No faults: "[]".
std::string write_chip_faults(const std::vector<ChipFault>& faults);
// An empty text is an empty list.
Result<std::vector<ChipFault>> read_chip_faults(std::string_view text);

}  // namespace chipweave::codec::mindcluster
