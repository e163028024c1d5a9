// all_reduce — predicted all-reduce bus bandwidth of a gang by the best algorithm that the library
// has for it, GB/s, with the term that it is the least of.
//
// A ring is what chip sets are compared by: its value does not depend on their number of chips. The
// stated limit of a job is that of the algorithm the library would run on large messages:
//
//   ring                     min(chips, rails, levels) (gang_bandwidth.hpp) nvls, one node
//   E·2(n-1)/(n+1) tree, two nodes          0.92·min(chips/2, rails, levels)·f                  f =
//   2(N-1)/N nvls tree, nodes > 1     min( E·c/(c+1), rails·w, levels·w )·f               w = 0.92,
//   or 1/2 above two nodes nvls, one chip fabric    E·2(N-1)/(N+1)
//
// n, N: chips of the node, of the gang; c: of the node with the fewest. E: what a chip gets through
// a switch that reduces (NVLink SHARP): 0.85 of its ring rate on Hopper, 0.74 on Blackwell. The
// owner of a share of the buffer reads its sum and writes it to all others, so a chip sends and
// receives (n+1)/n of the buffer, where a ring moves 2(n-1)/n. Between exactly two nodes each of
// the two trees moves half of the buffer each way; among more, inner nodes pass it on, and a tree
// moves as much as a ring. 0.85, 0.74 and 0.92 are NCCL's own (src/graph/tuning.cc).
#pragma once

#include <optional>
#include <string>

#include "common/solver/gang/chips/gang_bandwidth.hpp"

namespace chipweave::solver {

struct AllReduce {
  double gbps = 0;
  std::string algorithm;  // "ring", "tree", "nvls", "nvls tree"
  std::string limit;      // as GangBandwidth::limit_text
  friend bool operator==(const AllReduce&, const AllReduce&) = default;
};

// NodeBandwidth::reduction_gbps of chips with that ring bandwidth: 0 unless all of them are on one
// switch that reduces.
double reduction_gbps(const domain::NodeTopology& topology, domain::ChipSet chips, double set_gbps);

// ring: gang_bandwidth(shape); without a value there is none here either. O(nodes).
std::optional<AllReduce> all_reduce(const GangShape& shape, const GangBandwidth& ring);

}  // namespace chipweave::solver
