// The switch ports that a host's NICs are connected to, by LLDP: from the files of
// systemd-networkd, and from lldpd where the caller names its tool. Tested on constructed files and
// a fake tool only.
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

// Adds each neighbour that was received on an interface of an RDMA NIC (of any NIC if none has
// RDMA), by the NIC's name; lldpd's data wins over networkd's. What cannot be read or parsed is a
// warning. May take until the deadline: for discover() only.
void add_neighbours(const SysfsTree& tree, const HostView& view, const LldpOptions& options,
                    domain::Observation& observation);

}  // namespace chipweave::agent
