// The ConfigMap that Alibaba Cloud's clients read about a node in topology mode (label
// ack.node.gpu.schedule=topology), in kube-system: the health of its GPUs, and the kind and
// bandwidth of the connection of each pair.
//
// Format as read by the open-source client Arena: devices, a JSON object "0" → "Healthy"; linkType
// and bandwidth, matrices by GPU. Link names are those of nvidia-smi topo -m, bandwidths GB/s one
// way.
#pragma once

#include <optional>
#include <string>

#include "common/codec/kube/pod/pod.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

inline constexpr const char* kAckModeLabel = "ack.node.gpu.schedule";
inline constexpr const char* kAckTopologyMode = "topology";
inline constexpr const char* kAckNamespace = "kube-system";
inline constexpr const char* kAckPrefix = "chipweave-gpu-topology-";

// The labels by which clients find the ConfigMap; nullopt: the node's name is not a valid label
// value.
std::optional<codec::StringMap> ack_labels(const std::string& node);
// nullopt: not a machine with NVIDIA GPUs.
std::optional<codec::StringMap> ack_data(const NodeState& state);

}  // namespace chipweave::agent
