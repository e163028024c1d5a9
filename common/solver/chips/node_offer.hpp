// NodeOffer — what one node would give to a request, and what its other chips are still good for:
// everything that the choice among nodes looks at.
#pragma once

#include <array>
#include <cstdint>

#include "common/solver/chips/machine.hpp"

namespace chipweave::solver {

// How common requests of each size are: shares of 1, 2, 4, …, 64 chips, which sum to 1. A size in
// between counts as the next larger one.
struct SizeMix {
  std::array<double, 7> share{};
  // Expected number of `free` chips that a request cannot use, if those of the sizes in `open` fit.
  double unusable(int free, OpenSizes open) const;
};
// Where nothing is known about requests: as many for one chip as for 2, 4 and 8.
inline constexpr SizeMix kEvenMix{{0.25, 0.25, 0.25, 0.25, 0, 0, 0}};

struct NodeOffer {
  double gbps = 0;          // for the chips that the request would get, with those its job holds
  double machine_gbps = 0;  // of the whole machine
  int free = 0;             // chips before the request
  int left_over = 0;        // and after it
  OpenSizes open_before = 0;
  OpenSizes open_after = 0;
  friend auto operator<=>(const NodeOffer&, const NodeOffer&) = default;
};

// chips: what the request gets out of `free`, and their bandwidth. Look-ups in the machine's tables
// once they are filled.
NodeOffer offer_of(Machine& machine, ChipSet free, ChipSet chips, double gbps);

}  // namespace chipweave::solver
