// MachineLock — at most one agent watches the hardware of a machine.
//
// A lock on the folder of PCI devices in sysfs: it is the same folder in every container that
// mounts the host's /sys, needs no write permission, and is released with its process.
#pragma once

#include "common/base/result.hpp"
#include "common/io/descriptor.hpp"

namespace chipweave::agent {

class MachineLock {
 public:
  // Errors: conflict, if another process holds it. Succeeds without a lock if the folder does not
  // exist.
  Result<void> take(const std::string& sysfs_root);

 private:
  io::Descriptor folder_{-1};
};

}  // namespace chipweave::agent
