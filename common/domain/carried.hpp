// What the fast links of each chip have carried lately: measured by agents, to be compared with the
// bandwidth that a placement was predicted to have.
#pragma once

#include <map>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

// By chip, in GB/s (10^9 bytes a second): the most that all its fast links carried together in one
// direction within kCarriedWindowSeconds. Chips that were not measured are not in it.
using CarriedPeaks = std::map<ChipIndex, double>;

inline constexpr int kCarriedWindowSeconds = 600;
// Agents report changes of more than a tenth, at most once in this time.
inline constexpr int kCarriedEverySeconds = 300;
// No link is faster; what is above is nonsense.
inline constexpr double kMaxCarriedGbps = 1e6;

}  // namespace chipweave::domain
