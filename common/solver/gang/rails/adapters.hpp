// Adapters — the network adapters of the nodes of a gang: which of them are one rail, and what a
// set of chips gets through them.
//
// A rail is the same adapter on every node: a ring over several nodes enters and leaves each of
// them on one rail. Adapters of different nodes are one rail if they have the same PCI address,
// which the slots of one chassis share; where the addresses have little in common, the same name;
// where the names have not either, the same position in the description. An adapter that one node
// lacks therefore does not shift the others.
//
// Pure values; safe to share between threads.
#pragma once

#include <bitset>
#include <map>
#include <string>
#include <vector>

#include "common/base/limits.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

// One network adapter as the gang's chips on a node reach it.
struct Rail {
  int index = 0;    // the rail's number, the same on all nodes
  double gbps = 0;  // GB/s one way: line rate, less where the chips' host ports give less
  friend bool operator==(const Rail&, const Rail&) = default;
};

// The adapters that some chips of a node use.
struct NodeRails {
  std::vector<Rail> rails;  // ascending by index; empty if they are not known
  std::string unknown;      // why they are not known; empty: they are
};

// The rails of the machines of a gang's nodes.
class RailNumbers {
 public:
  // Machines with more adapters are numbered first, of equal ones the first in the list. Null and
  // repeated pointers are ignored. O(machines · adapters · log rails).
  explicit RailNumbers(std::vector<const domain::NodeTopology*> machines);
  // By adapter of the machine, which must be one of the list.
  const std::vector<int>& of(const domain::NodeTopology& machine) const {
    return numbers_.at(&machine);
  }
  int count() const { return count_; }

 private:
  std::map<const domain::NodeTopology*, std::vector<int>> numbers_;
  int count_ = 0;
};

// What is known of a node's adapters besides its topology.
struct AdapterState {
  std::vector<int> rails;  // by adapter, its rail's number; empty: its position
  std::vector<int> down;   // positions of the adapters that are down
  domain::ChipSet loaded;  // chips whose holders, other jobs, communicate over the network, too
};

// NodeAdapters — what each set of chips of one node gets through the node's adapters.
//
// Each chip uses the adapters to which its host path is the best that it has (PIX or PXB on
// machines with near adapters; a farther one otherwise). Chips and adapters that reach each other
// form a PCIe group: its adapters together get no more than the host paths of the used chips, and
// each its share of that. Chips of other jobs that load the adapters of the group take as much as a
// chip of the gang.
class NodeAdapters {
 public:
  NodeAdapters(const domain::NodeTopology& topology, const AdapterState& state);
  // O(chips · groups), without allocation but the answer.
  NodeRails of(domain::ChipSet used) const;
  bool known() const { return unknown_.empty(); }
  // How many of these chips have no near adapter (PIX or PXB) that is up.
  int far_chips(domain::ChipSet used) const { return (used - near_).size(); }

 private:
  using Set = std::bitset<limits::kMaxNics>;
  struct Adapter {
    int rail = 0;
    double gbps = 0;
  };
  std::vector<Adapter> adapters_;
  std::vector<Set> of_chip_;       // by slot: its adapters
  std::vector<double> path_gbps_;  // by slot: of its host path to them
  domain::ChipSet near_;           // chips with a near adapter
  domain::ChipSet loaded_;
  std::string unknown_;
};

// NodeAdapters(topology, state).of(used). Not from a shared Machine's topology: topology classes
// leave out line rates.
NodeRails rails_of(const domain::NodeTopology& topology, domain::ChipSet used,
                   const AdapterState& state = {});

}  // namespace chipweave::solver
