// SwitchInfo — faults of the HCCS or UnifiedBus switches inside a node (A3, A5): key SwitchInfoCfg
// next to DeviceInfoCfg, and an entry of ClusterD's cluster-info-switch-<x>.
//
//   {"FaultCode":["<event as JSON>"],"FaultLevel":"SeparateFault","UpdateTime":N,
//    "NodeStatus":"UnHealthy","FaultTimeAndLevelMap":{"<code>_<chip>_<port>":{…}}}
//
// Format: Ascend/mind-cluster, structs SwitchFaultInfo and SimpleSwitchFaultInfo. There is no
// CheckCode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/mindcluster/faults/chip_faults.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kSwitchInfoKey = "SwitchInfoCfg";

inline constexpr std::string_view kNodeHealthy = "Healthy";
inline constexpr std::string_view kNodeSubHealthy = "SubHealthy";
inline constexpr std::string_view kNodePreSeparate = "PreSeparate";
inline constexpr std::string_view kNodeUnHealthy = "UnHealthy";

struct SwitchEvent {
  std::uint32_t type = 0;
  std::string fault_code;         // "[0x00f103b0,155904,na,na]": alarm, fault, peer, its port
  std::uint32_t peer_device = 0;  // 0 CPU, 1 NPU, 2 switch, 0xFFFF none
  std::uint32_t peer_port = 0;
  std::uint32_t chip = 0;
  std::uint32_t port = 0;
  std::uint32_t severity = 0;   // 0 to 3
  std::uint32_t assertion = 0;  // 0 recovered, 1 occurred, 2 notice
  std::int64_t raised = 0;
};

struct SwitchInfo {
  std::vector<SwitchEvent> events;
  std::string level;  // "SeparateFault" …
  std::int64_t update_time = 0;
  std::string node_status;  // kNodeHealthy, kNodeSubHealthy, kNodeUnHealthy
  FaultMoments moments;     // by "<code>_<chip>_<port>"
};

// The node's status at a level; nullopt for a level without a defined status.
std::optional<std::string_view> node_status_of(std::string_view switch_level);

// The members FaultInfo (events as objects) to FaultTimeAndLevelMap. Returns the offset of the
// number of UpdateTime.
std::size_t append_switch_info(JsonWriter& out, const SwitchInfo& info);
std::string write_switch_info(const SwitchInfo& info);

}  // namespace chipweave::codec::mindcluster
