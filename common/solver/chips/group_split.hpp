// GroupSplit — pods of one job that share a node: the best joint set, dealt out so that each pod's
// own chips are as close as the set allows. All pods or none.
#pragma once

#include <vector>

#include "common/solver/chips/machine.hpp"
#include "common/solver/chips/selector.hpp"

namespace chipweave::solver {

// The union is the best set of that many chips (with `already_held`) that can be dealt into legal
// parts; parts maximise the slowest pod's bandwidth, then the sum. Sets are tried best first, for
// at most StepLimits::group (steps.hpp); then the best deal so far counts, or, where there is none,
// some legal chips for each pod in turn. best_gbps is left 0.
GroupChoice split_group(Selector& selector, ChipSet usable, ChipSet already_held,
                        const std::vector<int>& sizes, bool distributed);

}  // namespace chipweave::solver
