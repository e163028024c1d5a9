// Which chips of a machine the ranks of a run were.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/collective_run.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

struct UsedChips {
  domain::ChipSet chips;
  std::string from;  // how they were found, for people
};

// From, in this order: `stated` (vendor indices), the log's PCI addresses, all chips if as many
// took part, any chips if all pairs are connected alike. The numbers of devices in a log are those
// that a process saw (CUDA_VISIBLE_DEVICES), so they do not name chips. Errors: it is not certain,
// or a chip or address that the machine does not have.
Result<UsedChips> used_chips(const domain::CollectiveRun& run, int ranks,
                             const domain::NodeTopology& topology, const std::vector<int>& stated);

// Whether every set of a size has the same bandwidth: one switch with equal ports, or equal links
// between all pairs.
bool connected_alike(const domain::NodeTopology& topology);

}  // namespace chipweave::solver
