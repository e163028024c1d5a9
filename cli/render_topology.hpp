// The picture of a machine that people know from nvidia-smi and npu-smi: the matrix of chips, then
// what it means.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::cli {

// What one cell of the matrix says of two chips: X, NV2, NV18, XGMI1, SIO, HCCS, HCCS_SW, UB, MXL2,
// PIX … SYS. A '*' behind it: some of its lanes are down. A link that is down altogether shows the
// host path.
std::string cell(const domain::NodeTopology& topology, int slot_a, int slot_b);

// Chips joined by fast links or switches that are up, as sets of slots by their lowest; single
// chips included.
std::vector<domain::ChipSet> islands(const domain::NodeTopology& topology);

struct TopologyPage {
  std::string title;  // name or path as the user gave it
  std::vector<std::pair<int, double>>
      sizes;  // legal sizes with the best predicted GB/s; may be empty
};
// The whole page; no line is longer than 100 columns (wide matrices are cut into blocks of
// columns).
std::string render_topology(const domain::NodeTopology& topology, const TopologyPage& page);

}  // namespace chipweave::cli
