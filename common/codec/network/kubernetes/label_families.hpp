// The families of node labels that say where a node is, each from coarsest to finest. Internal to
// common/codec/network.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::codec {

struct LabelFamily {
  std::string_view name;                 // for messages
  std::vector<std::string_view> labels;  // coarsest first
};

// Of the network; where nodes have several, the one of most nodes, among equals the first here.
const std::vector<LabelFamily>& network_label_families();
// Of the accelerators' own interconnect; annotations too (superPodID).
const std::vector<LabelFamily>& accelerator_label_families();
// Regions and zones: only where nothing finer is known.
const LabelFamily& zone_labels();

// N of fabric.topograph.run/tier-N, 0 closest to the node; nullopt for another label.
std::optional<unsigned> topograph_tier(std::string_view label);

// What an accelerator label says: the part before the dot of nvidia.com/gpu.clique, "" for the
// negative numbers that MindCluster writes for "none", the value otherwise.
std::string accelerator_value(std::string_view label, const std::string& value);

}  // namespace chipweave::codec
