// NodeNetwork — what a node's agent sees of the network: the switches at the node's ports (LLDP),
// and the interconnect that its accelerators belong to.
#pragma once

#include <string>
#include <vector>

namespace chipweave::domain {

struct NodeNetwork {
  std::vector<std::string> rails;   // the leaf switch of each NIC, by its index; empty: not known
  std::vector<std::string> leaves;  // all of them, ascending, each once
  std::string interconnect;         // NVLink clique or super-pod; empty: none
  friend bool operator==(const NodeNetwork&, const NodeNetwork&) = default;
};

}  // namespace chipweave::domain
