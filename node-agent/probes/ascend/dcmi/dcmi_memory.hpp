// DcmiMemory — the devices that the driver listed before: one that it no longer lists stays a chip
// of the machine, marked as gone, with its links.
//
// Forgotten with the probe: a card that was removed for good disappears after a restart.
#pragma once

#include <vector>

#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

class DcmiMemory {
 public:
  // Adds the devices that the snapshot lacks, and remembers the result.
  void complete(DcmiSnapshot& snapshot);

 private:
  DcmiSnapshot last_;
};

}  // namespace chipweave::agent
