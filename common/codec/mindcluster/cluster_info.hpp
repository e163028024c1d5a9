// The ConfigMaps in which ClusterD collects those of all nodes, so that schedulers need not read
// each: cluster-info-device-<m>, cluster-info-node-cm and cluster-info-switch-<x>. Each has one
// key, its own name, with a JSON map from the names of the nodes' ConfigMaps to their content.
// ClusterTexts (cluster_texts.hpp) makes them of entries.
//
// Format: Ascend/mind-cluster, structs DeviceInfo, NodeInfo and SwitchInfo of ClusterD. ClusterD
// has verified the CheckCodes and leaves them out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/codec/mindcluster/node/device_info.hpp"
#include "common/codec/mindcluster/node/node_info.hpp"
#include "common/codec/mindcluster/node/switch_info.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kClusterInfoNamespace = "mindx-dl";
inline constexpr std::string_view kClusterInfoLabel = "mx-consumer-volcano";  // "true"
inline constexpr std::string_view kClusterDevicePrefix = "cluster-info-device-";
inline constexpr std::string_view kClusterNodeName = "cluster-info-node-cm";
inline constexpr std::string_view kClusterSwitchPrefix = "cluster-info-switch-";
inline constexpr std::string_view kSwitchEntryPrefix = "mindx-dl-switchinfo-";

// The number of nodes that ClusterD puts into one ConfigMap.
inline constexpr std::size_t kMaxDevicesOfPart = 1000;
inline constexpr std::size_t kMaxSwitchesOfPart = 2000;

// A node's member of such a map, in two parts; its UpdateTime, if any, goes between them.
struct ClusterEntry {
  std::string before;
  std::string after;
  bool timed = false;
  friend bool operator==(const ClusterEntry&, const ClusterEntry&) = default;
};
// The UpdateTime of the infos is not used.
ClusterEntry cluster_entry(const std::string& node, DeviceInfo info);
ClusterEntry cluster_entry(const std::string& node, SwitchInfo info);
ClusterEntry cluster_entry(const std::string& node, const NodeInfo& info);

}  // namespace chipweave::codec::mindcluster
