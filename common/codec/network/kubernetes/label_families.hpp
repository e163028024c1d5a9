// The families of node labels that describe where a node is, each from coarsest to finest. Internal
// to common/codec/network.
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

// Of the network. Where nodes have several, the one that most nodes have; among equals the first.
const std::vector<LabelFamily>& network_label_families();
// Of the accelerators' own interconnect; annotations too (superPodID).
const std::vector<LabelFamily>& accelerator_label_families();
// Regions and zones: only where nothing finer is known.
const LabelFamily& zone_labels();

// N of fabric.topograph.run/tier-N, 0 closest to the node; nullopt for another label.
std::optional<unsigned> topograph_tier(std::string_view label);

// The domain in an accelerator label: of nvidia.com/gpu.clique the part before the dot, "" for the
// negative numbers by which MindCluster means "none", else the value.
std::string accelerator_value(std::string_view label, const std::string& value);

}  // namespace chipweave::codec
