// Reads the files of this machine's KFD topology as one consistent set.
#pragma once

#include "common/base/result.hpp"
#include "common/codec/topology/import.hpp"
#include "node-agent/probes/sysfs/sysfs_tree.hpp"

namespace chipweave::agent {

inline constexpr const char* kKfdTopology = "/sys/class/kfd/kfd/topology";

// Properties of nodes, links and memory banks (not of the caches, which are nine tenths of the
// tree). The kernel counts changes of the topology in generation_id: if it changes while files are
// read, they are read again; unavailable after three attempts. not_found: no KFD here.
Result<codec::FileTree> read_kfd_files(const SysfsTree& tree);

}  // namespace chipweave::agent
