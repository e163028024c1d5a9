// PCI scan — accelerators of a machine from /sys/bus/pci alone: what can be known without a vendor
// library.
//
// Gives chips, NUMA nodes, NICs and host paths. Fast links are not visible there; the observation
// has a warning about that. Chips are numbered in the order of the bus; for Ascend, where the
// driver numbers otherwise, the observation says that their identity is unknown
// (unknown_identity.hpp).
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "node-agent/probes/host/host_view.hpp"

namespace chipweave::agent {

// The chips of `vendor`, or, where that is unknown, of the vendor with most chips. not_found when
// the bus has none. where: the folder that was read, for messages.
Result<domain::Observation> pci_observation(const HostView& view, domain::VendorId vendor,
                                            const std::string& where);

}  // namespace chipweave::agent
