// The nodes of a KFD topology tree (/sys/class/kfd/kfd/topology), read and checked. For kfd.cpp,
// and for the agent's AMD probe, which needs more of a GPU than a topology holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/codec/topology/import.hpp"

namespace chipweave::codec {

struct KfdLink {
  static constexpr std::int64_t kPcie = 2;
  static constexpr std::int64_t kXgmi = 11;
  std::int64_t type = 0;
  int to = 0;               // node number
  std::int64_t weight = 0;  // 15 for one XGMI hop, less inside a package; sums along routes
  std::int64_t min_mbps = 0;
  std::int64_t max_mbps = 0;
};

struct KfdNode {
  bool is_cpu = false;
  bool is_gpu = false;  // usable: has compute units and a render device
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  int render_minor = -1;  // of /dev/dri/renderD<minor>
  std::string bus_id;
  std::uint64_t unique_id = 0;  // of the package; 0 unknown
  std::uint64_t gfx_version = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<KfdLink> links;  // io_links, then p2p_links
};

struct KfdTree {
  // By number. The importer's chips 0, 1, … are those with is_gpu, in this order.
  std::map<int, KfdNode> nodes;
  Warnings warnings;
};

// Finds ".../nodes/<n>/properties" wherever the tree is rooted. Errors name the file: a value that
// is not a number, a missing key.
Result<KfdTree> read_kfd_tree(const FileTree& files);

}  // namespace chipweave::codec
