// ChipFault — one entry of the fault list of a node's chips: a JSON array that DeviceInfo holds as
// a string.
//
// Members in the order of Ascend/mind-cluster's struct DeviceFault. fault_code is upper-case hex,
// several codes separated by commas; fault_time is in milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave {
class JsonWriter;
}

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kCardUnhealthy = "CardUnhealthy";
inline constexpr std::string_view kCardNetworkUnhealthy = "CardNetworkUnhealthy";

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
};

// {"80E01801":{"fault_time":1750000000000,"fault_level":"SeparateNPU"}}
void append_moments(JsonWriter& out, const FaultMoments& moments);
// No faults: "[]".
std::string write_chip_faults(const std::vector<ChipFault>& faults);

}  // namespace chipweave::codec::mindcluster
