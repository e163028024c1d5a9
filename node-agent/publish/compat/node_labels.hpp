// The labels by which node selectors and other programs know what is in a node, whatever the
// vendor.
//
// chipweave.dev/vendor, /topology (node_class.hpp) and /chips; of NVIDIA nodes on request those of
// GPU Feature Discovery, for clusters in which it does not run. Values that are not known have no
// label.
#pragma once

#include "common/codec/kube/pod.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

inline constexpr const char* kVendorLabel = "chipweave.dev/vendor";
inline constexpr const char* kTopologyLabel = "chipweave.dev/topology";
inline constexpr const char* kChipsLabel = "chipweave.dev/chips";

codec::StringMap node_labels(const NodeState& state);
// nvidia.com/gpu.product, .count, .memory (MiB), .family, .clique, compute capability, MIG, and the
// driver's version. Empty for other vendors.
codec::StringMap gfd_labels(const NodeState& state);

// `labels` as a feature file of Node Feature Discovery: a line "key=value" each.
std::string nfd_features(const codec::StringMap& labels);

}  // namespace chipweave::agent
