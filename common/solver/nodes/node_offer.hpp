// NodeOffer — what one node would give to a request, and what others lose by it: everything that
// the choice among nodes looks at.
#pragma once

#include <compare>

#include "common/solver/chips/machine.hpp"
#include "common/solver/nodes/demand.hpp"

namespace chipweave::solver {

struct NodeOffer {
  double gbps = 0;          // for the chips that the request would get, with those its job holds
  double machine_gbps = 0;  // of the whole machine
  double fast_chips = 0;    // what leaving a machine of that speed is worth, see Demand
  double unusable = 0;      // by how many more free chips others cannot use; may be below 0
  int left_over = 0;        // free chips after the request
  friend auto operator<=>(const NodeOffer&, const NodeOffer&) = default;
};

// chips: what the request gets out of `free`, and their bandwidth. room: what the node has free;
// needs: what the request takes of it. Look-ups in the machine's tables once they are filled, and
// a step for each class of the demand.
NodeOffer offer_of(Machine& machine, ChipSet free, ChipSet chips, double gbps, const Demand& demand,
                   const Room& room, const Room& needs);

}  // namespace chipweave::solver
