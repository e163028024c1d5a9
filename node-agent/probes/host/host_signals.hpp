// What the host reports about its NICs, as signals and facts of an observation.
//
//   state    nic.down         an RDMA device without an active port; the text has the reason
//   counter  nic.link-downed  link losses of its RDMA ports (ports/<n>/counters/link_downed)
//   counter  nic.flap         changes between up and down of its interfaces (carrier_changes)
//   fact     rdma.<nic>.gid, .gid-index, .layer, .interface
#pragma once

#include "node-agent/probes/host/host_view.hpp"

namespace chipweave::agent {

// For RDMA devices only: boards have unused Ethernet ports.
void add_host_signals(const HostView& view, domain::Observation& observation);

}  // namespace chipweave::agent
