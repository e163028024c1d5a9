// Ring packing: the largest total rate of rings over a chip set (model M3 with switches,
// docs/concepts/bandwidth-model.md).
//
// A ring is a directed Hamiltonian cycle; rings may run at fractional rates, and those that use a
// directed link (or a chip's port into a switch plane, or out of it) share its capacity. Links are
// as fast both ways, so every cycle is run in both directions at once: the optimum is twice the
// packing of undirected cycles.
#pragma once

#include "common/solver/bandwidth/rings/ring_graph.hpp"
#include "common/solver/bandwidth/steps.hpp"

namespace chipweave::solver {

struct Packing {
  Rate rate = 0;   // of a packing that was found
  Rate bound = 0;  // no packing carries more; equal to rate when exact
  Steps steps = 0;
  bool exact() const { return rate == bound; }
};

// Exact for 2..16 chips: linear programme by column generation, priced by an exact
// search for cheap Hamiltonian cycles, stopped early when a cut bound is met. Cost: microseconds
// where the structure is uniform, about 0.2 ms for 8 irregular chips, 5 to 50 ms for 16 irregular
// ones. After `limit` steps the packing found so far and the least cut known count.
// Precondition: 2 <= graph.size() <= 16.
Packing pack_rings(const RingGraph& graph, Steps limit = kExactSteps.set);

}  // namespace chipweave::solver
