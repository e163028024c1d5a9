// GrownSets — sets worth trying where there are too many to list: grown from each chip by the
// neighbour with the most bandwidth into the set, or what is left when the worst connected chips
// are dropped one by one; the most promising ones then trade their worst chip for better ones. And
// sets packed into one NUMA node or into the vendor's groups with the least room, for rules that
// few sets satisfy.
#pragma once

#include <vector>

#include "common/solver/bandwidth/bandwidth_model.hpp"
#include "common/solver/chips/sets/candidates.hpp"

namespace chipweave::solver {

// Distinct sets of query.size chips that hold query.required; whether the rule allows them is not
// looked at. O(chips³) steps, 64 chips: some milliseconds.
std::vector<ChipSet> grow_sets(const Wiring& wiring, const BandwidthModel& model,
                               const CandidateQuery& query);

}  // namespace chipweave::solver
