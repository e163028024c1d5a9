// Rough ring packing: a packing of rings over more chips than the exact one takes
// (ring_packing.hpp).
//
// Rings are added one by one over the ways that are least used so far and all are scaled to fit in
// the end, so what comes out is a packing that works; how far it is from the best is not known.
#pragma once

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

struct RoughPacking {
  Rate rate = 0;  // 0 also where rings exist but none was found
  Steps steps = 0;
};

// Stops when `enough` is reached. At most 128 rings of O(n²) steps each; 64 chips: about
// 10 ms.
RoughPacking pack_roughly(const Wiring& wiring, ChipSet set, Rate enough);

}  // namespace chipweave::solver
