// FaultTable — the severity of an Ascend chip's error codes, as configured for MindCluster's device
// plugin: key faultCode.json of its ConfigMap.
//
//   {"NotHandleFaultCodes":["80E21007",…],"RestartRequestCodes":[…],"SeparateNPUCodes":[…],…,
//    "PreSeparateNPUNetworkCodes":["81078603"]}
//
// A code in several lists has the most serious of their levels. The keys, and the level of a code
// in no list, are those of Ascend/mind-cluster. The table is configuration; none is built in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::ascend {

inline constexpr std::size_t kMaxFaultTableBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxFaultCodes = 65536;  // of one list

// The network port lost its link: a network fault, whatever list it is in.
inline constexpr std::uint32_t kLinkDownCode = 0x81078603;

// Least serious first.
enum class FaultLevel {
  not_handle_fault,
  sub_health_fault,  // the job decides
  restart_request,
  restart_business,
  free_restart_npu,
  restart_npu,
  pre_separate_npu,  // running jobs stay, no new ones start
  separate_npu,
  manually_separate_npu,
};

// "NotHandleFault", "RestartNPU" …
std::string_view to_string(FaultLevel level);

struct FaultTable {
  std::map<std::uint32_t, FaultLevel> chip;
  std::map<std::uint32_t, FaultLevel> network;
  std::vector<std::string> warnings;  // unknown keys
};

// Errors: not a JSON object; a list that holds anything but codes, by name; limit_exceeded.
Result<FaultTable> read_fault_table(std::string_view text);

// Whether a code concerns only the chip's network port, not the chip itself.
bool is_network_fault(const FaultTable& table, std::uint32_t code);

// severity: of DCMI, 0 to 3, if known. An unlisted network code is pre_separate_npu; an unlisted
// chip code is separate_npu, or not_handle_fault if its severity is below 2.
FaultLevel level_of(const FaultTable& table, std::uint32_t code, std::optional<unsigned> severity);

}  // namespace chipweave::codec::ascend
