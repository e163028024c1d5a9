// Where the ports of a host's NICs lead, by LLDP: from what systemd-networkd keeps, and from lldpd
// where the caller names its tool. Shown on made files and a made tool only.
#pragma once

#include <chrono>
#include <string>

#include "common/domain/observation.hpp"
#include "node-agent/probes/host/host_view.hpp"

namespace chipweave::agent {

struct LldpOptions {
  std::string lldpctl;  // path of the program; "": it is not run
  std::chrono::milliseconds deadline{2000};
};

// Adds a neighbour for each one that was heard on an interface of an RDMA NIC (of any NIC where
// there is none with RDMA), by the NIC's name; lldpd's account of a NIC goes before networkd's.
// What could not be read or understood is a warning. Takes up to the deadline: for discover() only.
void add_neighbours(const SysfsTree& tree, const HostView& view, const LldpOptions& options,
                    domain::Observation& observation);

}  // namespace chipweave::agent
