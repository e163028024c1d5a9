// The node labels in which MindCluster's device plugin describes the chips, as far as their values
// need parsing.
//
//   servertype: Ascend910B-20          <card type>-<AI cores of a chip>
//   mind-cluster/npu-chip-memory: 64G
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kChipNameLabel = "node.kubernetes.io/npu.chip.name";  // 910B3 …
inline constexpr std::string_view kServerTypeLabel = "servertype";
inline constexpr std::string_view kChipMemoryLabel = "mind-cluster/npu-chip-memory";
inline constexpr std::string_view kAcceleratorTypeLabel = "accelerator-type";
inline constexpr int kMaxAiCores = 1024;
inline constexpr int kMaxChipGigabytes = 65536;

struct ServerType {
  std::string card;  // Ascend910, Ascend910B, Ascend310P, npu
  int ai_cores = 0;

  friend bool operator==(const ServerType&, const ServerType&) = default;
};

std::string write_server_type(const ServerType& type);
// nullopt: another form, or more than kMaxAiCores.
std::optional<ServerType> read_server_type(std::string_view label);

std::string write_chip_memory(int gigabytes);
// In gigabytes; nullopt: another form, or more than kMaxChipGigabytes.
std::optional<int> read_chip_memory(std::string_view label);

}  // namespace chipweave::codec::mindcluster
