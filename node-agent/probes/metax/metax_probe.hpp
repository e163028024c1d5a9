// MetaxProbe — MetaX accelerators as far as the PCI bus shows them: chips, NUMA nodes, host paths
// and NICs.
//
// MetaXLink is not among it: no public text says what `mx-smi topo -m` prints for it, or which file
// of the driver states it, so nothing is read and nothing assumed. Each observation says so and
// names the profile that has the wiring of a C550 server. Of health it knows what the host says of
// its NICs, and that a device has left the bus: then it is no chip any more. Not run on a machine
// with these chips; shown on made trees only.
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
