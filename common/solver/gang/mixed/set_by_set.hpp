// SetBySet — a heuristic for pods of several kinds with rules of their own, for requests too large
// for ExactSets: places one set after another, each as well as possible given the ones before
// (their domains cost nothing more), trying the domains of its required level in turn. Keeps every
// rule; may miss placements that ExactSets finds.
#pragma once

#include <cstdint>

#include "common/solver/gang/mixed/exact_sets.hpp"
#include "common/solver/gang/uniform/capacity.hpp"

namespace chipweave::solver {

// Placing pods of one kind visits every domain of the fabric. So many visits are made, some
// seconds' worth; kinds beyond them get no nodes.
inline constexpr std::uint64_t kMaxDomainVisits = 200'000'000;
inline constexpr const char* kTooManyVisits =
    "the gang has too many kinds of pods for a network of this size";

// usages: excluded nodes, and what has been placed since the fabric was updated. Cost: that of
// place_uniform() for each kind, times the domains tried for sets of several kinds (at most
// kMaxTries for the gang).
SetsPlacement place_set_by_set(const Fabric& fabric, const domain::Gang& gang,
                               const PodGroups& groups, const NodeUsages& usages);

}  // namespace chipweave::solver
