// The labels and annotations of its Node that an agent may write. This is the one list: the
// admission policy of the chart (charts/chipweave/templates/agent-publish-policy.yaml) repeats it,
// and a test holds the policy to it.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "common/codec/mindcluster/names/node_labels.hpp"
#include "common/codec/mindcluster/node/node_annotations.hpp"

namespace chipweave::agent {

// Lists the keys that the agent owns, on the Node itself.
inline constexpr const char* kAgentKeysAnnotation = "chipweave.dev/agent-keys";
// A command of an operator: faults to be forgotten. The agent removes it once it is carried out.
inline constexpr const char* kClearAnnotation = "chipweave.dev/clear-faults";

inline constexpr std::array<std::string_view, 5> kOwnLabelPrefixes = {
    "chipweave.dev/", "nvidia.com/gpu.", "nvidia.com/cuda.", "nvidia.com/mig.",
    "metax-tech.com/gpu."};
inline constexpr std::array<std::string_view, 4> kOwnLabels = {
    "accelerator", codec::mindcluster::kServerTypeLabel, codec::mindcluster::kChipMemoryLabel,
    codec::mindcluster::kChipNameLabel};
inline constexpr std::array<std::string_view, 5> kOwnAnnotations = {
    codec::mindcluster::kBaseDevicesAnnotation, codec::mindcluster::kSuperPodIdAnnotation,
    codec::mindcluster::kServerIndexAnnotation, "serverType", "rackID"};

// Whether an agent may ever own the key. A key that is listed on the Node and may not be owned is
// left alone.
inline bool may_own_label(std::string_view key) {
  return std::find(kOwnLabels.begin(), kOwnLabels.end(), key) != kOwnLabels.end() ||
         std::any_of(kOwnLabelPrefixes.begin(), kOwnLabelPrefixes.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}
inline bool may_own_annotation(std::string_view key) {
  return std::find(kOwnAnnotations.begin(), kOwnAnnotations.end(), key) != kOwnAnnotations.end();
}

}  // namespace chipweave::agent
