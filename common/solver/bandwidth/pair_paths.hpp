// Pairs of chips — what a set offers when every chip talks to every other, which a ring says
// nothing of: the rate of an all-to-all, and how far apart the chips are.
//
// Pure functions of the wiring, O(n²) for n chips, without allocation.
#pragma once

#include <compare>

#include "common/solver/bandwidth/bandwidth_model.hpp"

namespace chipweave::solver {

// Predicted bus bandwidth of an all-to-all inside the set (nccl-tests: algorithm bandwidth times
// (n-1)/n). Each pair exchanges as much as any other, so the set is as fast as its narrowest pair
// allows, (n - 1) times the pair's share of its path:
//
//   direct link         its rate
//   switches            what the chip's ports give, over its partners on them
//   routed, host paths  the path's rate, over the chip's pairs that use such paths
//
// One switch therefore gives the least port, a mesh n - 1 links. 0 for fewer than two chips.
Rate all_to_all_rate(const BandwidthModel& model, const Wiring& wiring, ChipSet set);

// Hops of a pair: 1 over a direct link or a switch, 2 over a third chip, and 3 to 8 over the host
// by the kind of the path (board, PIX, PXB, PHB, NODE, SYS). Fewer are better.
struct Distance {
  int farthest = 0;    // of any pair
  int sum = 0;         // over all pairs
  int numa_nodes = 0;  // that the set is on
  friend auto operator<=>(const Distance&, const Distance&) = default;
};
Distance distance(const BandwidthModel& model, const Wiring& wiring, ChipSet set);

}  // namespace chipweave::solver
