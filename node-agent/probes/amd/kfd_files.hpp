// The files of this machine's KFD topology that describe it, read at one moment.
#pragma once

#include "common/base/result.hpp"
#include "common/codec/topology/import.hpp"
#include "node-agent/probes/sysfs/sysfs_tree.hpp"

namespace chipweave::agent {

inline constexpr const char* kKfdTopology = "/sys/class/kfd/kfd/topology";

// Properties of nodes, links and memory banks (not of the caches, which are nine tenths of the
// tree). The kernel counts its changes of the topology in generation_id: what was read over such a
// change is read again, and after three times the error is unavailable. not_found: no KFD here.
Result<codec::FileTree> read_kfd_files(const SysfsTree& tree);

}  // namespace chipweave::agent
