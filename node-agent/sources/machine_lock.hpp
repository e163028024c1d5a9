// MachineLock — at most one agent watches the hardware of a machine.
//
// A lock on the folder of PCI devices in sysfs: it is the same for every container that has the
// host's /sys, needs no right to write anywhere, and goes with its process however that ends.
#pragma once

#include "common/base/result.hpp"
#include "common/io/descriptor.hpp"

namespace chipweave::agent {

class MachineLock {
 public:
  // Errors: conflict, when another process has it; a machine without that folder has no lock, and
  // nothing to guard.
  Result<void> take(const std::string& sysfs_root);

 private:
  io::Descriptor folder_{-1};
};

}  // namespace chipweave::agent
