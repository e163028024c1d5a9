// CombinedLevels — the two hierarchies of a network, switches and the accelerators' own
// interconnect (super-pods, NVLink domains, UB racks), as one list of levels for the planner.
//
// If the accelerators' domains nest in the tree of switches, they become levels of it, as close to
// the nodes as possible; the plan is then exact. Otherwise they come first, and a switch domain
// that spans several of them counts once in each.
#pragma once

#include <string>
#include <vector>

#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::codec {

// Fills levels and each node's place. accelerators: the accelerator path of each node, in the order
// of the nodes; empty: it has none. asked: the gang names one of accelerator_levels, so they are
// needed even if they do not nest.
void combine_levels(const std::vector<std::string>& accelerator_levels,
                    const std::vector<std::vector<std::string>>& accelerators, bool asked,
                    PlanRequest& request);

}  // namespace chipweave::codec
