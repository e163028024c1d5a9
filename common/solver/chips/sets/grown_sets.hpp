// GrownSets — candidate sets where there are too many to list. Greedy: grown from each chip by the
// chip with the most bandwidth into the set. Reverse greedy: what is left after dropping the worst
// connected chips one by one. The most promising ones exchange their worst chip for better ones.
// For rules that few sets satisfy, also sets packed into one NUMA node, or into the vendor's groups
// with the fewest usable chips.
#pragma once

#include <vector>

#include "common/solver/bandwidth/bandwidth_model.hpp"
#include "common/solver/chips/sets/candidates.hpp"

namespace chipweave::solver {

// Distinct sets of query.size chips that contain query.required; they may violate the rule.
// O(chips³) steps, some milliseconds for 64 chips.
std::vector<ChipSet> grow_sets(const Wiring& wiring, const BandwidthModel& model,
                               const CandidateQuery& query);

}  // namespace chipweave::solver
