// Builds the topology from a DcmiSnapshot.
//
// Chips are numbered by their physical ids, the others in the gaps. Link names are read as by the
// importer of `npu-smi info -t topo`; placement rules and rates are those of the built-in profiles.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/probes/ascend/ascend_generation.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

// Facts about chips that the driver does not report, by position in the snapshot.
struct AscendPlaces {
  std::vector<int> numa;                            // -1: not known
  std::vector<std::vector<std::string>> addresses;  // of its own ports
};

// The number of each chip of the snapshot: its physical id. One without gets a number that no other
// chip has: its position if that is free, else the lowest.
std::vector<int> chip_indices(const DcmiSnapshot& snapshot);

// warnings: what was assumed or left out. not_found: no device. invalid_argument:
// devices that contradict each other (two of one number).
Result<domain::NodeTopology> topology_of(const DcmiSnapshot& snapshot, AscendGeneration generation,
                                         const AscendPlaces& places,
                                         std::vector<std::string>& warnings);

}  // namespace chipweave::agent
