// HostView — the host side of a machine, whatever its accelerators: PCI tree, NUMA nodes, network
// adapters. Plain values read from sysfs at one moment.
//
// Every probe completes its vendor's chips and links with it: the paths from each chip to each NIC,
// and the signals of the NICs (add_host).
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/observation.hpp"
#include "node-agent/probes/host/host_nic.hpp"
#include "node-agent/probes/host/pci/pci_bus.hpp"

namespace chipweave::agent {

struct HostView {
  std::vector<PciDevice> devices;  // accelerators and adapters, by address
  std::vector<HostNic> nics;
  std::vector<int> numa_nodes;
  bool intel = false;  // its processors

  // The device at an address. Where the bus has none, that of function 0 of the same card: KFD
  // numbers the partitions of an AMD package as functions that the bus does not have. Null if
  // there is neither.
  const PciDevice* find(const std::string& address) const;
};

HostView scan_host(const SysfsTree& tree);

// `topology` completed by the view, matched by PCI address: NUMA nodes of chips, host paths where
// the topology has only NODE or SYS, and the view's NICs with their paths in place of its own
// (which stay if the view has none). Links, switches and rule stay.
Result<domain::NodeTopology> with_host(const domain::NodeTopology& topology, const HostView& view);

// with_host, and the signals and facts of the NICs (host_signals.hpp). A topology that the builder
// refuses stays as it is, with a warning.
void add_host(const HostView& view, domain::Observation& observation);

// HostWatch — whether the host has changed since it was last read: PCI devices that come or go,
// NICs that go up or down. Belongs to one probe.
class HostWatch {
 public:
  // The tree must outlive it.
  explicit HostWatch(const SysfsTree& tree) : tree_(tree) {}
  // Reads the host and remembers it.
  HostView look();
  // Cheap: a listing of the bus and a few files per NIC.
  bool changed() const { return fingerprint() != seen_; }

 private:
  std::string fingerprint() const;
  const SysfsTree& tree_;
  std::vector<HostNic> nics_;
  std::string seen_;
};

}  // namespace chipweave::agent
