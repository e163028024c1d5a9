// AckMode — under which name a node of ACK (Alibaba Cloud) offers its GPUs. The node's label
// ack.node.gpu.schedule says it: `default` for nvidia.com/gpu, `topology` for aliyun.com/gpu. Any
// other value is a mode of another device plugin, beside which this one offers nothing. To delete
// the label changes nothing.
#pragma once

#include <optional>
#include <string>

namespace chipweave::device_plugin {

inline constexpr const char* kAckLabel = "ack.node.gpu.schedule";
inline constexpr const char* kUsualResource = "nvidia.com/gpu";
inline constexpr const char* kAckResource = "aliyun.com/gpu";

// unknown: the Node has not been seen yet.
enum class AckMode { unknown, usual, topology, foreign };

// label: of the Node as it is now; nullopt: it has none.
inline AckMode next_mode(AckMode now, const std::optional<std::string>& label) {
  if (!label) return now == AckMode::unknown ? AckMode::usual : now;
  if (*label == "topology") return AckMode::topology;
  return *label == "default" ? AckMode::usual : AckMode::foreign;
}

// The resource that has devices in that mode; empty: none.
inline std::string resource_of(AckMode mode) {
  if (mode == AckMode::usual) return kUsualResource;
  return mode == AckMode::topology ? kAckResource : "";
}

}  // namespace chipweave::device_plugin
