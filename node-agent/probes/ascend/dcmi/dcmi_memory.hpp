// DcmiMemory — what the driver reported before. A device that it no longer lists stays a chip of
// the machine, marked as gone, with its links. A fact that it does not report in time is the last
// one that it reported.
//
// Forgotten with the probe: a card that was removed for good disappears after a restart.
#pragma once

#include <vector>

#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

class DcmiMemory {
 public:
  // Adds the devices, facts and pairs that the snapshot lacks, and remembers the result.
  void complete(DcmiSnapshot& snapshot);

 private:
  DcmiSnapshot last_;
};

}  // namespace chipweave::agent
