// GangBandwidth — predicted ring all-reduce bus bandwidth of a whole gang, GB/s, with every term
// that it is the least of (docs/concepts/bandwidth-model.md, "A gang over several nodes").
//
//   B(gang) = min( chips:  the slowest chip set of a node, of nodes with two chips or more,
//                  rails:  sum over the rails that all nodes have of the slowest node's rate there,
//                  levels: what a node gets across each level where several domains are used )
//
// The terms for rails and levels count only if the gang is on several nodes. A ring over several
// nodes enters and leaves each of them through one network adapter. Libraries run one ring per
// rail, so the rates of rails add up, and a rail that one node lacks carries no ring. Where the
// nodes have no common rail, rings change rails in the network and every node counts with the sum
// of its own rails. For nodes connected by the chips' own fabric (an NVLink rack, a super-pod) its
// rate replaces both terms.
//
// Rates are nominal; published rings reach 0.90 to 0.97 of them. Unknown terms are left out of the
// minimum and listed, so a value with something left out is an upper bound. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/solver/gang/rails/adapters.hpp"

namespace chipweave::solver {

struct NodeBandwidth {
  std::string name;
  int chips = 0;  // of the gang
  // Predicted GB/s of all of them together; ignored for a single chip; nullopt: not known.
  std::optional<double> set_gbps = 0;
  NodeRails rails = {};       // of all of them
  double reduction_gbps = 0;  // of a chip through a switch that reduces; 0: none does
};

struct LevelBandwidth {
  std::string name;
  int domains = 1;             // that the gang is in
  std::optional<double> gbps;  // a node gets across it when all nodes send; nullopt: not known
};

struct GangShape {
  std::vector<NodeBandwidth> nodes;
  std::vector<LevelBandwidth> levels;
  // Set where the chips of all nodes are joined by their own fabric: GB/s of a set across nodes.
  std::optional<double> chip_fabric_gbps;
  bool trees = false;  // the library has trees between nodes (NCCL)
};

struct GangBandwidth {
  // The least of the terms that are known; nullopt: there is none, as for a single chip.
  std::optional<double> gbps;
  // Which term it is, the first one of equal ones: "chips of n3", "8 rails", "level rack"; empty:
  // none.
  std::string limit_text;

  std::optional<double> chips;  // within nodes
  std::string slowest_node;     // of this term

  std::optional<double> rails;  // between nodes
  int rails_used = 0;           // rails that all nodes with known ones have
  std::string rails_text;       // the term in words: "8 rails"
  bool aligned = true;          // false: no rail is common, rings change rails in the network

  std::optional<double> chip_fabric;   // in place of rails and levels
  std::vector<LevelBandwidth> levels;  // those with several domains

  std::vector<std::string> left_out;  // messages about terms that are not known
};

// O(nodes · rails).
GangBandwidth gang_bandwidth(const GangShape& shape);

}  // namespace chipweave::solver
