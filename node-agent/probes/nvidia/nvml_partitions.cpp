#include "node-agent/probes/nvidia/nvml_partitions.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace chipweave::agent {
namespace {

constexpr std::size_t kModules = 8;

using ByModule = std::array<std::optional<domain::ChipIndex>, kModules>;

// A board by its pairs; modules are counted from 0 here.
struct Board {
  std::array<std::array<std::size_t, 2>, kModules / 2> pairs;
};
constexpr Board kNeighbours = {{{{0, 1}, {2, 3}, {4, 5}, {6, 7}}}};
constexpr Board kCrossed = {{{{0, 2}, {1, 3}, {4, 6}, {5, 7}}}};

// By compute capability; null for one that has no such board.
const Board* board_of(int sm) {
  switch (sm) {
    case 80:
    case 100:
    case 103:
      return &kNeighbours;
    case 90:
      return &kCrossed;
    default:
      return nullptr;
  }
}

// "" and the modules, or why they are not known.
std::string find_modules(const NvmlSnapshot& snapshot, ByModule& out) {
  if (snapshot.devices.size() != kModules) {
    return std::to_string(snapshot.devices.size()) + " GPUs, not 8";
  }
  for (const NvmlDevice& device : snapshot.devices) {
    const std::string name = "GPU " + std::to_string(device.index);
    if (!device.module) return name + " reports no module id";
    if (*device.module < 1 || *device.module > kModules) {
      return name + " has module id " + std::to_string(*device.module) + ", not one of 1 to 8";
    }
    auto& place = out[*device.module - 1];
    if (place) return name + " has module id " + std::to_string(*device.module) + " like another";
    place = domain::ChipIndex{device.index};
  }
  return "";
}

// One model on all: a board holds no mixture.
const Board* board_of(const NvmlSnapshot& snapshot) {
  const std::optional<int> sm = snapshot.devices.front().sm;
  for (const NvmlDevice& device : snapshot.devices) {
    if (device.sm != sm) return nullptr;
  }
  return board_of(sm.value_or(0));
}

}  // namespace

std::vector<std::vector<domain::ChipIndex>> fabric_partitions(const NvmlSnapshot& snapshot,
                                                              FabricPartitions mode,
                                                              codec::Warnings& warnings) {
  if (mode == FabricPartitions::none) return {};
  const auto refuse = [&warnings](const std::string& why) {
    warnings.add("--fabric-partitions is hgx-8, but " + why + ": partitions are ignored");
    return std::vector<std::vector<domain::ChipIndex>>{};
  };
  ByModule modules;
  if (const std::string problem = find_modules(snapshot, modules); !problem.empty()) {
    return refuse(problem);
  }
  const Board* board = board_of(snapshot);
  if (board == nullptr) {
    return refuse("its GPUs are not all of one generation whose partitions are known");
  }
  std::vector<std::vector<domain::ChipIndex>> out;
  const auto add_run = [&](std::size_t first, std::size_t count) {
    auto& set = out.emplace_back();
    for (std::size_t i = first; i < first + count; ++i) set.push_back(*modules[i]);
  };
  for (const std::size_t size : {std::size_t{8}, std::size_t{4}, std::size_t{1}}) {
    for (std::size_t first = 0; first < kModules; first += size) add_run(first, size);
  }
  for (const auto& [one, other] : board->pairs) out.push_back({*modules[one], *modules[other]});
  return out;
}

}  // namespace chipweave::agent
