// FaultTable — how serious the error codes of an Ascend chip are, as MindCluster's device plugin is
// configured: key faultCode.json of its ConfigMap.
//
//   {"NotHandleFaultCodes":["80E21007",…],"RestartRequestCodes":[…],"SeparateNPUCodes":[…],…,
//    "PreSeparateNPUNetworkCodes":["81078603"]}
//
// A code that several lists name is of the most serious of them. The keys and what becomes of a
// code that none names are those of Ascend/mind-cluster; the table itself is configuration, none is
// built in.
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
inline constexpr std::size_t kMostFaultCodes = 65536;  // of one list

// The network port lost its link: a fault of the network, whatever lists name it.
inline constexpr std::uint32_t kLinkDownCode = 0x81078603;
// The chip is not on the bus any more.
inline constexpr std::uint32_t kCardDroppedCode = 0x40f84e00;

// Least serious first.
enum class FaultLevel {
  not_handle_fault,
  sub_health_fault,  // the job decides
  restart_request,
  restart_business,
  free_restart_npu,
  restart_npu,
  pre_separate_npu,  // what runs stays, nothing new comes
  separate_npu,
  manually_separate_npu,
};

// "NotHandleFault", "RestartNPU" …
std::string_view to_string(FaultLevel level);
// Exact names only.
std::optional<FaultLevel> parse_fault_level(std::string_view text);

struct FaultTable {
  std::map<std::uint32_t, FaultLevel> chip;
  std::map<std::uint32_t, FaultLevel> network;
  std::vector<std::string> warnings;  // keys that are not known
};

// Errors: no JSON object, what is no list of codes, naming it; limit_exceeded.
Result<FaultTable> read_fault_table(std::string_view text);

// Whether a code is about the chip's network port and leaves the chip itself well.
bool is_network_fault(const FaultTable& table, std::uint32_t code);

// severity: of DCMI, 0 to 3, where it is known. A code that the table does not name is
// pre_separate_npu for the network; of a chip it is separate_npu, unless its severity is below 2.
FaultLevel level_of(const FaultTable& table, std::uint32_t code, std::optional<unsigned> severity);

}  // namespace chipweave::codec::ascend
