// Chips that are picked without regard to their links: the kubelet takes free devices in no
// particular order where the device plugin has no preference.
#pragma once

#include "common/domain/chip_set.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::solver {

// GB/s that such a pick of `size` of the free chips likely has: the median over all sets, or over
// kUnguidedSets of them where there are more. The same for the same arguments. `beside` as in
// Request::already_held. 0 if there are fewer free chips. At most kUnguidedSets bandwidths of sets.
inline constexpr int kUnguidedSets = 31;
double unguided_gbps(Machine& machine, domain::ChipSet free, int size, domain::ChipSet beside);

}  // namespace chipweave::solver
