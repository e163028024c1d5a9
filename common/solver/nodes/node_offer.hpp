// NodeOffer — what one node would give to a request, and what its other chips are good for before
// and after: everything that the choice among nodes looks at.
#pragma once

#include <compare>

#include "common/solver/chips/machine.hpp"

namespace chipweave::solver {

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

// How many of `free` chips a request cannot use, on average over requests for 1, 2, 4 and 8 chips:
// all of them if none of the size fits, otherwise none. The fragmentation of the FGD paper ("Beware
// of Fragmentation", USENIX ATC 2023) for chips, with as many requests of each size.
double unusable_chips(int free, OpenSizes open);

}  // namespace chipweave::solver
