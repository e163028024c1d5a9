// Ring packing: the largest total rate of rings over a chip set (model M3 with switches,
// docs/concepts/bandwidth-model.md).
//
// A ring is a directed Hamiltonian cycle. Rings may run at fractional rates; those that use the
// same directed link (or a chip's port into or out of a switch plane) share its capacity. Links are
// equally fast in both directions, so every cycle runs in both: the optimum is twice the packing of
// undirected cycles.
#pragma once

#include "common/solver/bandwidth/bandwidth.hpp"
#include "common/solver/bandwidth/rings/ring_graph.hpp"

namespace chipweave::solver {

// Exact for 2..16 chips: a linear programme solved by column generation, with an exact search for
// cheap Hamiltonian cycles as pricing, stopped early when it meets a cut bound. Cost: microseconds
// where the structure is uniform, about 0.2 ms for 8 irregular chips, 5 to 50 ms for 16. After
// `limit` steps it returns the best packing and the least cut found so far. Precondition: 2 <=
// graph.size() <= 16.
Bandwidth pack_rings(const RingGraph& graph, Steps limit = kSmallSteps.set);

}  // namespace chipweave::solver
