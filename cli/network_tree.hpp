// A network as a tree of domains, with the nodes of the finest ones as ranges.
#pragma once

#include <string>
#include <vector>

#include "common/domain/network_table.hpp"

namespace chipweave::cli {

struct TreeStyle {
  bool utf8 = false;         // ├─ └─ │ instead of |- `- |
  bool line_a_node = false;  // each node on a line of its own, with its rails
};

// Domains and nodes in natural order. Nodes of which a level is unknown are below the domain that
// is known. A level that has each node's own name is left out. Empty without
// levels or nodes.
std::string network_tree(const domain::NetworkTable& table, const TreeStyle& style);
// The same of the accelerators' own interconnect.
std::string accelerator_tree(const domain::NetworkTable& table, const TreeStyle& style);

// "gpu[01-08],login,gpu[01-02].b.example": in natural order; numbers at the end of the part before
// the first dot are joined, of IP addresses the last ones.
std::string node_ranges(std::vector<std::string> names);

}  // namespace chipweave::cli
