// What Alibaba Cloud's clients read of a node in topology mode (label
// ack.node.gpu.schedule=topology): one ConfigMap in kube-system with the health of its GPUs, what
// joins each two and how fast.
//
// Format: as the open-source client Arena reads it: devices a JSON object "0" → "Healthy",
// linkType and bandwidth matrices by GPU. Link names are those of nvidia-smi topo -m, bandwidths
// GB/s one way.
#pragma once

#include <optional>
#include <string>

#include "common/codec/kube/pod/pod.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

inline constexpr const char* kAckModeLabel = "ack.node.gpu.schedule";
inline constexpr const char* kAckTopologyMode = "topology";

// The ConfigMap is found by its labels; nullopt: the node's name is no label's value.
std::optional<codec::StringMap> ack_labels(const std::string& node);
// nullopt: not a machine of NVIDIA's.
std::optional<codec::StringMap> ack_data(const NodeState& state);

}  // namespace chipweave::agent
