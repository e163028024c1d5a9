// MetaxProbe — MetaX accelerators as far as the PCI bus shows them: chips, NUMA nodes, host paths
// and NICs.
//
// MetaXLink is missing: no public document describes a driver file with it, and the outputs of
// `mx-smi topo -m` that users published have no lanes, so nothing is read and nothing assumed. Each
// observation warns about that and names the profile with the wiring of a C550 server. Health
// covers the NICs only; a device that leaves the bus is no longer a chip. Never run on a machine
// with these chips; tested on constructed trees only.
#pragma once

#include <string>

#include "node-agent/probes/host/host_neighbours.hpp"
#include "node-agent/probes/host/host_view.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

struct MetaxOptions {
  std::string root;  // "" for this machine, or a folder that holds a tree "sys/…"
  LldpOptions lldp;
};

class MetaxProbe final : public VendorProbe {
 public:
  explicit MetaxProbe(MetaxOptions options);
  // not_found: the bus has no device of MetaX (PCI vendor 0x9999).
  Result<domain::Observation> discover() override;
  bool changes() override { return host_.changed(); }

 private:
  const MetaxOptions options_;
  const SysfsTree tree_;
  HostWatch host_;
};

}  // namespace chipweave::agent
