// Real machine descriptions for tests, if the shared data folder exists.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/codec/topology/import.hpp"

namespace chipweave::codec {

// CHIPWEAVE_SHARED_DATA, else ../shared/data beside the sources; "" if there is no such folder.
std::string shared_data();
// Content of a file below shared_data()/topologies; fails the test if it cannot be read.
std::string topology_file(const std::string& name);
// The files of a .tar.gz below shared_data()/topologies/kfd, unpacked in memory.
FileTree kfd_archive(const std::string& name);

// "0-1 NVLINK x2 20", … of all direct links by chip index, in order.
std::vector<std::string> link_list(const domain::NodeTopology& topology);
// Pairs of chips whose host path is `kind`.
int pairs_of(const domain::NodeTopology& topology, domain::LinkKind kind);
// Joined, for searching.
std::string all_warnings(const ImportedTopology& imported);

}  // namespace chipweave::codec

#define CHIPWEAVE_NEEDS_SHARED_DATA()            \
  if (::chipweave::codec::shared_data().empty()) \
  GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)"
