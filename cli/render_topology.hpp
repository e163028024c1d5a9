// Renders a machine as the matrix known from nvidia-smi and npu-smi, followed by a legend.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/terminal.hpp"
#include "cli/topology_matrix.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::cli {

// Chips connected by working fast links or switches, as sets of slots ordered by their lowest slot;
// includes single chips.
std::vector<domain::ChipSet> islands(const domain::NodeTopology& topology);

struct TopologyPage {
  std::string title;  // name or path as the user gave it
  std::vector<std::pair<int, double>>
      sizes;  // legal sizes with the best predicted GB/s; may be empty
  MatrixLayout matrix = {{}, true, kMaxColumns};
  bool wide = false;  // also a row per chip with all that is known of it
};
// The whole page; the columns of `matrix` are those of the page.
std::string render_topology(const domain::NodeTopology& topology, const TopologyPage& page);

}  // namespace chipweave::cli
