// Connectivity of a graph on bit sets.
#pragma once

#include <bit>
#include <cstdint>

namespace chipweave::solver {

// Whether the members are connected. partners(i): bits of the chips one hop away from chip i. True
// for the empty set. O(chips).
template <class Partners>
bool connected(std::uint64_t members, const Partners& partners) {
  std::uint64_t reached = members & (~members + 1);
  for (std::uint64_t frontier = reached; frontier != 0;) {
    std::uint64_t next = 0;
    for (; frontier != 0; frontier &= frontier - 1)
      next |= std::uint64_t{partners(std::countr_zero(frontier))};
    frontier = next & members & ~reached;
    reached |= frontier;
  }
  return reached == members;
}

}  // namespace chipweave::solver
