// Label families — the labels of nodes that tell where a node is in the network, as vendors, clouds
// and schedulers set them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::domain {

inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

// A level and its labels; of several the first that a node has counts.
struct LabelLevel {
  std::string name;
  std::vector<std::string> labels;
  friend bool operator==(const LabelLevel&, const LabelLevel&) = default;
};

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

// The family of fabric.topograph.run/tier-N, which has no fixed depth. It precedes all others.
inline constexpr std::string_view kTierFamily = "topograph 1.0";
// N of fabric.topograph.run/tier-N, 0 closest to the node; nullopt for another label.
std::optional<unsigned> topograph_tier(std::string_view label);

// The domain in an accelerator label: of nvidia.com/gpu.clique the part before the dot, "" for the
// negative numbers by which MindCluster means "none", else the value.
std::string accelerator_value(std::string_view label, const std::string& value);

}  // namespace chipweave::domain
