// NetworkTable — where the nodes of a cluster are in its network, from a file or the cluster's
// labels: the result of every importer and the input of every exporter.
//
// Levels go from coarsest to finest; node.path has one element a level. A domain is its whole path:
// two racks r1 in two blocks are two racks. An empty element is unknown and equals no other. A
// branch with fewer levels than others repeats the name of its last switch on the missing ones.
// Several roots are several first elements.
#pragma once

#include <string>
#include <vector>

namespace chipweave::domain {

struct NetworkNode {
  std::string name;
  std::vector<std::string> path;
  // The leaf switch of each network interface, by its index; empty: not known.
  std::vector<std::string> rails;
  // Its path in the hierarchy of the accelerators' own interconnect (super-pod, NVL72 domain, UB
  // rack), one element for each of NetworkTable::accelerator_levels; empty: not part of it.
  std::vector<std::string> accelerator;
};

struct NetworkTable {
  std::vector<std::string> levels;
  std::vector<std::string> accelerator_levels;
  std::vector<NetworkNode> nodes;
};

}  // namespace chipweave::domain
