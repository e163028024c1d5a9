// What the host says of its NICs, as signals and facts of an observation.
//
//   state    nic.down         an RDMA device of which no port is active; the text says why
//   counter  nic.link-downed  links that its RDMA ports lost (ports/<n>/counters/link_downed)
//   counter  nic.flap         changes between up and down of its interfaces (carrier_changes)
//   fact     rdma.<nic>.gid, .gid-index, .layer, .interface
#pragma once

#include "node-agent/probes/host/host_view.hpp"

namespace chipweave::agent {

// Of RDMA devices only: a board has ports that nobody ever plugged in.
void add_host_signals(const HostView& view, domain::Observation& observation);

}  // namespace chipweave::agent
