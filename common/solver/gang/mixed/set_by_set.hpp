// SetBySet — pods of several kinds with rules of their own, where there are too many ways to look
// at them all: set after set, each placed best beside what was placed before (its domains cost
// nothing more), inside one domain of its required level after another. Keeps every rule; may miss
// a way that ExactSets would find.
#pragma once

#include "common/solver/gang/mixed/exact_sets.hpp"
#include "common/solver/gang/uniform/room.hpp"

namespace chipweave::solver {

// notes: nodes that take none, and what was given away. Cost: that of place_alike() for each kind,
// times the domains that are tried for sets that consist of several kinds (at most kMaxTries for
// the gang).
SetsAnswer place_set_by_set(const Fabric& fabric, const domain::Gang& gang, const PodGroups& groups,
                            const Notes& notes);

}  // namespace chipweave::solver
