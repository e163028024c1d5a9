// HostNic — one network adapter of a machine as sysfs shows it: a PCI function with its interfaces
// and, where it has one, its RDMA device.
//
// Files: /sys/class/infiniband (kernel: Documentation/ABI/stable/sysfs-class-infiniband) and
// /sys/class/net (Documentation/ABI/testing/sysfs-class-net). Some of them query the adapter's
// firmware, so discover() reads everything and changes() little.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node-agent/probes/host/pci/pci_bus.hpp"

namespace chipweave::agent {

struct RdmaPort {
  int number = 1;
  std::string state;       // "ACTIVE", "DOWN", …; "" unknown
  std::string phys_state;  // "LinkUp", "Polling", "Disabled", …
  std::string layer;       // "Ethernet", "InfiniBand"
  double gbps = 0;         // GB/s; 0: unknown, as for an inactive port
  std::optional<std::uint64_t> link_downed;

  bool down() const { return !state.empty() && state != "ACTIVE"; }
};

// The entry of a port's GID table for RoCE over IPv4.
struct RoceGid {
  int index = 0;
  std::string text;       // "0000:0000:0000:0000:0000:ffff:0a00:0001"
  std::string interface;  // "" unknown
};

struct NetInterface {
  std::string name;
  int number = 0;      // the kernel's index; 0: unknown
  std::string master;  // name of the bond that it belongs to; "": none
  std::optional<bool> carrier;
  std::optional<std::uint64_t> carrier_changes;
  double gbps = 0;
};

struct HostNic {
  std::string name;  // of the RDMA device, else of the interface, else the PCI address
  PciDevice at;
  std::string rdma;  // name of the RDMA device; "" if there is none
  std::string guid;
  std::vector<RdmaPort> ports;  // of the RDMA device
  std::optional<RoceGid> gid;   // of its first port that has one
  // Its own, then those of adapters that a bond has joined under the same RDMA device.
  std::vector<NetInterface> interfaces;

  // GB/s one way; 0: unknown.
  double gbps() const;
  // Whether it has an RDMA device without an active port.
  bool down() const;
};

// The adapters among `devices`, by PCI address. One that vanishes while it is read is left out.
std::vector<HostNic> read_nics(const SysfsTree& tree, const std::vector<PciDevice>& devices);

// What changes() compares: RDMA devices (the adapter's driver may be loaded or reloaded later than
// the host was read), the state of their ports and the carrier of their interfaces.
std::string nic_states(const SysfsTree& tree, const std::vector<HostNic>& nics);

}  // namespace chipweave::agent
