// PCI scan — accelerators and NICs of a machine from /sys/bus/pci alone: what can be known without
// a vendor library.
//
// Gives chips, NUMA nodes, NICs and host paths. Fast links are not visible there; the discovery
// says so in a warning.
#pragma once

#include <string>
#include <vector>

#include "common/domain/link.hpp"
#include "node-agent/app/probe.hpp"
#include "node-agent/probes/sysfs_tree.hpp"

namespace chipweave::agent {

// not_found when the bus has no accelerator of a known vendor.
Result<domain::Observation> scan_pci(const SysfsTree& tree);

// Components of a resolved sysfs path from the PCI root on: {"pci0000:3a", "0000:3a:00.0",
// "0000:3b:00.0"}; empty if the device hangs on no PCI root.
std::vector<std::string> pci_route(const std::string& resolved_path);

// Host path of two devices by their routes: under one bridge PIX, under several PXB, one host
// bridge PHB, one NUMA node NODE, else SYS (an unknown NUMA node, -1, equals nothing).
domain::LinkKind pci_path_kind(const std::vector<std::string>& a, int numa_a,
                               const std::vector<std::string>& b, int numa_b);

}  // namespace chipweave::agent
