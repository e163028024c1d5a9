// HostTree — the PCI tree of a machine (CPUs, host bridges, PCIe bridges, devices), and the path
// between two devices.
//
// Built once by an importer; node 0 is the machine. Not shared between threads.
#pragma once

#include <cstddef>
#include <vector>

#include "common/domain/link.hpp"

namespace chipweave::codec {

class HostTree {
 public:
  enum class Level { machine, root_complex, bridge, device };

  // bridges_of_one_switch: nodes below the common bridge that are still inside one switch: 0 if a
  // switch is one node (NCCL), 1 if its upstream and downstream ports are nodes (hwloc, sysfs).
  explicit HostTree(int bridges_of_one_switch = 0) : bridges_of_one_switch_(bridges_of_one_switch) {
    nodes_.push_back({-1, Level::machine, -1});
  }

  // Returns the new node. Precondition: parent is a node of this tree. numa is that of a root
  // complex (-1 unknown).
  int add(int parent, Level level, int numa = -1);

  // Common bridge: PIX inside one switch, else PXB; common root complex: PHB; different ones: NODE
  // on one known NUMA node, else SYS. Two functions of one device: PIX.
  domain::LinkKind path(int a, int b) const;

 private:
  struct Node {
    int parent;
    Level level;
    int numa;
  };
  const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  std::vector<int> to_root(int node) const;

  int bridges_of_one_switch_;
  std::vector<Node> nodes_;
};

}  // namespace chipweave::codec
