// exchange_shares — for a gang whose chips all talk to each other: how its pods are shared out over
// the nodes of a plan so that the all-to-all is fastest (all_to_all.hpp), then so that the fewest
// pairs of chips are on different nodes.
//
// Two nodes of eight chips hold twelve as 6 and 6 or as 8 and 4: the even share is bound by the
// adapters less, the other one has fewer pairs across. Which is faster depends on the adapters.
// Uniform pods without slices, even shares or running pods; others keep theirs. Pods move one by
// one while that helps: the result is no worse than the plan, but not proven to be the best.
#pragma once

#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/chips/node_machine.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// Larger plans keep their shares.
inline constexpr std::size_t kMaxExchangeNodes = 64;

// Cost: at most 4 moves a pod, each O(nodes²) look-ups; the chips for each number of pods once for
// nodes in the same state.
domain::Plan exchange_shares(const Fabric& fabric, const domain::Gang& gang,
                             const NodeMachines& machines, domain::Plan plan);

}  // namespace chipweave::solver
