// Finds the NUMA node of a list of CPUs: DCMI gives a device's location as CPUs ("144-167").
#pragma once

#include <string_view>
#include <vector>

#include "node-agent/probes/sysfs/sysfs_tree.hpp"

namespace chipweave::agent {

class NumaNodes {
 public:
  // Read from /sys/devices/system/node below the tree's root.
  explicit NumaNodes(const SysfsTree& tree);
  // The node that has all these CPUs; -1 if they belong to several nodes or none, or are malformed.
  int of(std::string_view cpus) const;

 private:
  struct Range {
    int first = 0;
    int last = 0;
    int node = 0;
  };
  std::vector<Range> ranges_;
};

}  // namespace chipweave::agent
