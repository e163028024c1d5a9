// The matrix of `topo show`, in the shape of `nvidia-smi topo -m`: a row per chip; columns of
// chips, network adapters, CPU affinity and NUMA affinity.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "common/domain/node_topology.hpp"

namespace chipweave::cli {

// The matrix cell of two chips: X, NV2, NV18, XGMI1, SIO, HCCS, HCCS_SW, UB, MXL2, PIX … SYS. A
// trailing '*' means that some lanes are down. A link that is entirely down shows the host path.
std::string cell(const domain::NodeTopology& topology, int slot_a, int slot_b);

struct MatrixLayout {
  std::map<int, std::string> cpus;  // by chip index: "0-19,40-59"
  bool numa_stated = true;          // the numbers of NUMA nodes are the machine's own
  std::size_t columns = 0;          // wider matrices are cut into blocks of columns
};

struct TopologyMatrix {
  std::string text;
  std::set<std::string> words;  // of the cells, for a legend
};
TopologyMatrix topology_matrix(const domain::NodeTopology& topology, const MatrixLayout& layout);

}  // namespace chipweave::cli
