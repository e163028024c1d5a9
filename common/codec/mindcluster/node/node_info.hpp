// NodeInfo — faults of a node's other components (CPU, memory, disk …): key NodeInfo of the
// ConfigMap mindx-dl-nodeinfo-<node>, which exists only while there are faults.
//
//   {"NodeInfo":{"FaultDevList":[{"DeviceType":"CPU","DeviceId":0,"FaultCode":["0000001D"],
//     "FaultLevel":"PreSeparateFault"}],"NodeStatus":"PreSeparate"},"CheckCode":"…"}
//
// Format: Ascend/mind-cluster, structs NodeInfoCM and FaultDev. The CheckCode covers the inner
// NodeInfo.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/mindcluster/check_code.hpp"

namespace chipweave {
class JsonWriter;
}

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kNodeInfoPrefix = "mindx-dl-nodeinfo-";
inline constexpr std::string_view kNodeInfoNamespace = "mindx-dl";
inline constexpr std::string_view kNodeInfoKey = "NodeInfo";

struct NodeFault {
  std::string device_type;
  std::int64_t device_id = 0;
  std::vector<std::string> codes;
  std::string level;  // "NotHandleFault", "PreSeparateFault", "SeparateFault"

  friend bool operator==(const NodeFault&, const NodeFault&) = default;
};

struct NodeInfo {
  std::vector<NodeFault> faults;
  std::string status;  // "Healthy", "PreSeparate", "UnHealthy"
};

// The members FaultDevList and NodeStatus.
void append_node_info(JsonWriter& out, const NodeInfo& info);
std::string write_node_info(const NodeInfo& info, const Digest& sha256);

}  // namespace chipweave::codec::mindcluster
