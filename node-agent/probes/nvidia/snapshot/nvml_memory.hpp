// NvmlMemory — what the devices were when they last answered, so that one that is lost keeps its
// identity and its links, all down, instead of vanishing from the wiring; so that one whose id or
// address is nonsense for once stays who it was; and so that one that comes back is noticed.
//
// By index: a lost device may not know its own id any more. Where the driver lists another number
// of devices than before, the indices mean others and everything is forgotten. Owner: one probe.
#pragma once

#include <vector>

#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

class NvmlMemory {
 public:
  // Fills in what devices do not say any more, and remembers what they do. Indices of the devices
  // that were lost or failed the last time and answer now.
  std::vector<int> complete(NvmlSnapshot& snapshot);

 private:
  NvmlSnapshot last_;
};

}  // namespace chipweave::agent
