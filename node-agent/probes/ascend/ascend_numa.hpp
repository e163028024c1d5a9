// Which NUMA node a list of CPUs is of: DCMI says where a device is by CPUs ("144-167").
#pragma once

#include <string_view>
#include <vector>

#include "node-agent/probes/sysfs/sysfs_tree.hpp"

namespace chipweave::agent {

class NumaNodes {
 public:
  // Read from /sys/devices/system/node below the tree's root.
  explicit NumaNodes(const SysfsTree& tree);
  // The one node that has all of them; -1 where they are of several, of none, or no list of CPUs.
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
