// What amdgpu's files say that a package measures: temperatures, power, memory, load, clock, ECC
// (RAS), XGMI traffic.
//
// Files as in amd_device.hpp, and gpu_metrics (gpu_metrics.hpp). Not read: PCIe, of which the
// driver gives no bytes. Tested on constructed trees only.
#pragma once

#include <optional>
#include <string>

#include "common/domain/chip_metrics.hpp"
#include "node-agent/probes/sysfs/sysfs_tree.hpp"

namespace chipweave::agent {

// The device at a PCI address. nullopt: none of its files has a value.
std::optional<domain::ChipMetrics> measure_amd(const SysfsTree& tree, const std::string& pci,
                                               domain::ChipIndex chip);

}  // namespace chipweave::agent
