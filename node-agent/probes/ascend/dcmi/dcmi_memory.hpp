// DcmiMemory — which devices the driver had before: one that it lost stays a chip of the machine,
// as gone, with the links that it had.
//
// They are forgotten with the probe: taking a card out for good shows after a restart.
#pragma once

#include <vector>

#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

class DcmiMemory {
 public:
  // Adds what the snapshot lacks, and remembers the result.
  void complete(DcmiSnapshot& snapshot);

 private:
  DcmiSnapshot last_;
};

}  // namespace chipweave::agent
