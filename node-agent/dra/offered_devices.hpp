// The devices that this node's DRA driver offers: its chips, by the names that claims use. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent::dra {

struct OfferedDevice {
  std::string name;  // "gpu-3": by the index that the vendor's tool prints
  int slot = 0;      // in the topology
  std::string chip;  // what identifies the hardware: its id, else its PCI address; empty: neither
  // Why the chip must not be used, for people; empty: it may.
  std::string problem;
  bool network_unhealthy = false;
};

// Ascending by slot; chips that are gone are there, with a problem.
std::vector<OfferedDevice> offered_devices(const NodeState& state);

// For each slot the island of its chip: chips that reach one another over the chip fabric (direct
// links and switches that are up) have the same number. Numbers are ascending from 0 by the lowest
// slot.
std::vector<int> fabric_islands(const domain::NodeTopology& topology);

// The fabric by which an attribute is named: "nvlink", "hccs", "xgmi", "metaxlink"; empty: the
// machine has none.
std::string fabric_name(const domain::NodeTopology& topology);

}  // namespace chipweave::agent::dra
