// Rough ring packing, for more chips than the exact one takes (ring_packing.hpp).
//
// Rings are added one by one over the links and ports that are least used so far; in the end all
// are scaled to fit. The result is a feasible packing, without a guarantee of how close to the best
// it is.
#pragma once

#include "common/solver/bandwidth/bandwidth.hpp"

namespace chipweave::solver {

// bound: no packing carries more; the search stops where it is reached, and after `limit` steps. A
// rate of 0 does not mean that there is no ring. At most 128 rings of O(n² · planes) steps each; 64
// chips without planes: about 10 ms.
Bandwidth pack_roughly(const Wiring& wiring, ChipSet set, Rate bound,
                       Steps limit = kLargeSteps.set);

}  // namespace chipweave::solver
