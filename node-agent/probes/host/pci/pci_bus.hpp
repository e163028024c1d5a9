// The PCI bus of a machine as sysfs shows it: accelerators and network adapters, and what lies
// between two of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/domain/link.hpp"
#include "common/domain/vendor.hpp"
#include "node-agent/probes/sysfs/sysfs_tree.hpp"

namespace chipweave::agent {

inline constexpr const char* kPciDevices = "/sys/bus/pci/devices/";

struct PciDevice {
  std::string address;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t device_class = 0;  // 24 bits: base, sub, interface
  int numa = -1;
  std::vector<std::string> route;  // see pci_route; empty: unknown
  double link_gigatransfers = 0;   // of a lane of its port, at most; 0: unknown
};

// By address. SR-IOV virtual functions are left out, as are devices that vanish while they are
// read.
std::vector<PciDevice> list_pci(const SysfsTree& tree);

// Whose accelerator the device is; unknown if it is none.
domain::VendorId accelerator_vendor(const PciDevice& device);

// Components of a resolved sysfs path from the PCI root on: {"pci0000:3a", "0000:3a:00.0",
// "0000:3b:00.0"}; empty if the device is below no PCI root.
std::vector<std::string> pci_route(const std::string& resolved_path);

// Host path of two devices by their routes: under one bridge PIX, under several PXB, one host
// bridge PHB, one NUMA node NODE, else SYS (an unknown NUMA node, -1, equals nothing).
domain::LinkKind pci_path_kind(const std::vector<std::string>& a, int numa_a,
                               const std::vector<std::string>& b, int numa_b);

}  // namespace chipweave::agent
