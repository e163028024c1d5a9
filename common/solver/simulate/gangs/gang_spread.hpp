// Spread — how far the pods of a gang are apart: the borders that its ring of ranks crosses, the
// domains that it uses, and the fewest that it could.
#pragma once

#include <vector>

#include "common/domain/trace.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/simulate/gangs/gang_placer.hpp"

namespace chipweave::simulate {

// How many more pods of so many chips, at least one, the node takes.
int room_on(const solver::FabricNode& node, int chips);

// By level, how often the ring of these pods, including the step from the last to the first, goes
// from one domain to another.
std::vector<int> ring_crossings(const solver::Fabric& fabric, const GangSeats& seats);

// By level, the domains that the pods are in.
std::vector<int> domains_used(const solver::Fabric& fabric, const GangSeats& seats);

// By level, a lower bound of the domains of any placement by what is free: the largest domains that
// hold the gang, inside one of its required level. Each level by itself, so that no placement need
// reach all of them. Precondition: the gang fits. Cost: O(domains log domains + nodes levels).
std::vector<int> fewest_domains(const solver::Fabric& fabric, const domain::TraceGang& gang);

}  // namespace chipweave::simulate
