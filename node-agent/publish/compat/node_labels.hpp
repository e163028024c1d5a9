// The labels by which node selectors and other programs recognise a node's hardware.
//
// chipweave.dev/vendor, /topology (node_class.hpp) and /chips; on request those of GPU Feature
// Discovery and of MetaX's GPU operator, for clusters in which these do not run. Unknown values
// have no label.
#pragma once

#include "common/codec/kube/pod/pod.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

inline constexpr const char* kVendorLabel = "chipweave.dev/vendor";
inline constexpr const char* kTopologyLabel = "chipweave.dev/topology";
inline constexpr const char* kChipsLabel = "chipweave.dev/chips";

codec::StringMap node_labels(const NodeState& state);
// nvidia.com/gpu.product, .count, .memory (MiB), .family, .clique, compute capability, MIG, and the
// driver's version. Empty for other vendors.
codec::StringMap gfd_labels(const NodeState& state);
// metax-tech.com/gpu.installed, .product ("MXC550"), .family ("MXC") and .memory ("64GB"), as that
// operator publishes them; its labels of driver and runtime are left to it. Empty for other
// vendors.
codec::StringMap metax_labels(const NodeState& state);

// `labels` as a feature file of Node Feature Discovery: a line "key=value" each.
std::string nfd_features(const codec::StringMap& labels);

}  // namespace chipweave::agent
