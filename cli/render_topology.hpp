// Renders a machine as the chip matrix known from nvidia-smi and npu-smi, followed by a legend.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::cli {

// The matrix cell of two chips: X, NV2, NV18, XGMI1, SIO, HCCS, HCCS_SW, UB, MXL2, PIX … SYS. A
// trailing '*' means that some lanes are down. A link that is entirely down shows the host path.
std::string cell(const domain::NodeTopology& topology, int slot_a, int slot_b);

// Chips connected by working fast links or switches, as sets of slots ordered by their lowest slot;
// includes single chips.
std::vector<domain::ChipSet> islands(const domain::NodeTopology& topology);

struct TopologyPage {
  std::string title;  // name or path as the user gave it
  std::vector<std::pair<int, double>>
      sizes;  // legal sizes with the best predicted GB/s; may be empty
  // CPUs by chip index, in place of NUMA nodes that the file does not state; usually empty.
  std::map<int, std::string> cpus = {};
};
// The whole page; no line is longer than 100 columns (wide matrices are cut into blocks of
// columns).
std::string render_topology(const domain::NodeTopology& topology, const TopologyPage& page);

}  // namespace chipweave::cli
