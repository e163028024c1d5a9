// The node labels in which MindCluster's device plugin describes the chips.
//
//   servertype: Ascend910B-20          <card type>-<AI cores of a chip>
//   mind-cluster/npu-chip-memory: 64G
#pragma once

#include <string_view>

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kChipNameLabel = "node.kubernetes.io/npu.chip.name";  // 910B3 …
inline constexpr std::string_view kServerTypeLabel = "servertype";
inline constexpr std::string_view kChipMemoryLabel = "mind-cluster/npu-chip-memory";
inline constexpr int kMaxAiCores = 1024;
inline constexpr int kMaxChipGigabytes = 65536;

}  // namespace chipweave::codec::mindcluster
