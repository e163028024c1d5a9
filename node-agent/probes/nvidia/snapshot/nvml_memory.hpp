// NvmlMemory — what the devices were when they last responded, so that a lost one keeps its
// identity and its links (all down) instead of vanishing from the wiring, one that returns an
// invalid id or address keeps the valid one, and one that comes back is noticed. What a query that
// fails leaves open keeps its last answer, too: a fault that was read does not end, and MIG mode is
// not over, because the driver does not answer once. A link whose state cannot be read is down.
//
// Keyed by index, as a lost device may not report its own id any more. If the driver lists another
// number of devices than before, the indices are not comparable and everything is forgotten. Owner:
// one probe.
#pragma once

#include <vector>

#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

class NvmlMemory {
 public:
  // Fills in what devices no longer report, and remembers what they do. Returns the indices of the
  // devices that were lost or failed in the last snapshot and work now.
  std::vector<int> complete(NvmlSnapshot& snapshot);

 private:
  NvmlSnapshot last_;
};

}  // namespace chipweave::agent
